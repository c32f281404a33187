run sums.rise --device gpu --set n=4 --arg xs=ones
exit 3
