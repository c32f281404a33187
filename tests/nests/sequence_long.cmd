run sequences.rise doubled --set n=3 --set steps=10007 --arg xs=uniform --verify
