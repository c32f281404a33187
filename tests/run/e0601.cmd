run two.rise second --set n=5 --arg xs=iota
exit 1
