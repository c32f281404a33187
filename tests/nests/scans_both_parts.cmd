run scans.rise both --set n=1025 --set m=70 --arg xs=uniform:-5:5 --verify
