run laws.rise right --set n=4000 --arg xs=iota --verify
