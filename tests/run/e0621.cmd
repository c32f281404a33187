run sums.rise --devise sim --set n=4 --arg xs=ones
exit 2
