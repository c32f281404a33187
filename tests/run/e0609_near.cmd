run sums.rise --set n=4 --arg xs=uniform:1:1
