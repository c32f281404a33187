run shared.rise --set n=1 --set m=58112 --arg xs=ones
