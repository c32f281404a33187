run fill.rise --set n=2^10 --set m=2^20 --arg x=1
exit 1
