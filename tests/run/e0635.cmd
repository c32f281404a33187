run num_sm.rise strided --set n=2^50 --arg xs=ones
exit 4
