run shared.rise --set n=1 --set m=2^17 --arg xs=ones
exit 1
