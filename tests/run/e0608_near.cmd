run sums.rise --arg xs=four.npy
