run repeats.rise --set n=300 --set m=64 --arg places=uniform --arg xs=ones --seed 3 --verify
