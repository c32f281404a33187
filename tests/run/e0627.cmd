run axpy.rise --arg a=1 --arg xs=four_f64.npy --arg ys=two_four.npy
exit 2
