run axpy.rise --set n=4 --arg a=2 --arg xs=iota --arg ys=ones
