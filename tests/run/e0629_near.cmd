run sums.rise --device ref --set n=4 --arg xs=ones
