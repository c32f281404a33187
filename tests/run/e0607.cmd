run scatter.rise --arg is=indices_twice.npy --arg xs=four.npy --device ref
exit 1
