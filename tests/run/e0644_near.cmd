run fill.rise --set n=2^10 --set m=2^11 --arg x=1
