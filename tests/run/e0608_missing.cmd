run sums.rise --arg xs=missing.csv
exit 2
