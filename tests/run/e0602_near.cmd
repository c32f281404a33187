run fill.rise --set n=0 --set m=2^40 --arg x=1
