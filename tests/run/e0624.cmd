run sums.rise --arg xs=iota
exit 2
