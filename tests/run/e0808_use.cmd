run laws.rise wrong --set n=4000 --arg xs=iota --verify
exit 1
