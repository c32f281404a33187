run inside.rise --set n=2^40 --arg x=1 --device ref
exit 1
