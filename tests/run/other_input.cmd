run axpy.rise --set n=10 --arg xs=random --arg ys=ones --arg a=2
exit 2
