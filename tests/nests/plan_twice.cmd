lower plan.rise twice --plan --set n=1000 --set numSM=132
