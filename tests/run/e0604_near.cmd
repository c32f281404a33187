run gather.rise --arg is=indices.npy --arg xs=four.npy
