run gather.rise --arg is=indices_bad.npy --arg xs=four.npy
exit 1
