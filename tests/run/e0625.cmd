run axpy.rise --arg a=1 --arg xs=four.npy --arg ys=five.npy
exit 2
