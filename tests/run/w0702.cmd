run stale.rise --set n=4 --arg xs=ones
exit 0
