run rounded.rise total --set n=5000 --arg xs=uniform --verify
