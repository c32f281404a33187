run num_sm.rise strided --set n=100 --arg xs=ones --device ref
