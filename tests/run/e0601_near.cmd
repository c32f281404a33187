run two.rise second --set n=6 --arg xs=iota
