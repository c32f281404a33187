run sums.rise --device ref --set n=4 --arg xs=ones --profile
exit 2
