run repeats.rise --set n=300 --set m=64 --arg places=uniform --arg xs=uniform --seed 3 --verify
exit 1
