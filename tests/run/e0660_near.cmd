run foreign.rise --set n=4 --arg xs=ones
