run sums.rise --arg xs=sums.rise
exit 2
