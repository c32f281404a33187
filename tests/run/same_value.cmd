run same_value.rise --set n=30 --set m=10003 --arg xs=uniform --verify
