run sums.rise --arg xs=no_array.npy
exit 2
