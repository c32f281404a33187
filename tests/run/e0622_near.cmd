run two.rise first --set n=4 --arg xs=ones
