run scans.rise before --set n=2 --set m=1100 --set k=3 --arg xs=uniform:-5:5 --verify
