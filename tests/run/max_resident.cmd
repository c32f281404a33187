run num_sm.rise resident --set n=5000 --set maxResident=2 --set numSM=3 --arg xs=iota --verify --stats
