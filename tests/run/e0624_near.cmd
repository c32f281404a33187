run sums.rise --set n=2 --arg xs=iota
