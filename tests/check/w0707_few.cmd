run w0707.rise --set n=300 --arg xs=ones --arg ys=ones
exit 0
