run repeated.rise power --set n=3 --set steps=10007 --arg a=uniform --arg start=uniform --verify
