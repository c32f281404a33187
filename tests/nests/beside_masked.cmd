run beside.rise masked --set n=19 --set m=33 --arg xs=normal --arg mask=small --verify
