check sums.rise --set n=1000
exit 2
