run halves.rise --set n=20000 --arg xs=uniform --verify
exit 1
