run ema.rise --set n=131072 --set m=3 --arg xs=uniform --verify
