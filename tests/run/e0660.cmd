run damaged.rise --set n=4 --arg xs=ones
exit 1
