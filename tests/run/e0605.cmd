run fill.rise --set n=2^20 --set m=2^20 --arg x=1 --device ref
exit 1
