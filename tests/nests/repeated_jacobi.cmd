run repeated.rise jacobi --set n=5 --set steps=10007 --set m=4 --arg xs=uniform --verify
