run scatter.rise --arg is=indices.npy --arg xs=four.npy --device ref
