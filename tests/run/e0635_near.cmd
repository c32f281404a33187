run num_sm.rise strided --set n=2^20 --arg xs=ones
