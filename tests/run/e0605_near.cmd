run fill.rise --set n=2^10 --set m=2^10 --arg x=1 --device ref
