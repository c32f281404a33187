run rounded.rise above --set n=1000 --arg xs=uniform --arg ys=iota --verify
