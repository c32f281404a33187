run axpy.rise --arg a=1 --arg xs=four.npy --arg ys=four.npy --set n=4
