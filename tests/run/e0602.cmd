run fill.rise --set n=2^40 --set m=2^40 --arg x=1
exit 1
