run decided_by_rounded.rise f --set n=1998 --arg xs=uniform:0:300 --seed 1 --verify
