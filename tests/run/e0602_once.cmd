run e0602_once.rise --set n=65536 --arg xs=ones --device ref
exit 1
