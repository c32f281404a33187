run fill.rise --set n=2^30 --set m=2^19 --arg x=1 --device ref
exit 4
