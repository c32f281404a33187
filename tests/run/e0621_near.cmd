run sums.rise --device sim --set n=4 --arg xs=ones
