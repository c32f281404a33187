run num_sm.rise strided --set n=100 --set numSM=0 --arg xs=ones
exit 2
