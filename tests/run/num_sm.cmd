run num_sm.rise strided --set n=100 --set numSM=2 --arg xs=ones --verify
