run sums.rise --set n=4 --arg xs=uniform:3:1
exit 2
