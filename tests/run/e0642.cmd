run fill.rise --set n=2^10 --set m=2^21 --arg x=1
exit 1
