run repeated.rise jacobi --set n=4 --set m=4 --set steps=0 --arg xs=iota --verify
