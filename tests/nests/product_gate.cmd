lower product_gate.rise --plan --set b=1024 --set h=1024 --set numSM=132
