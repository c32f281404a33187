run sums.rise --arg xs=.
exit 2
