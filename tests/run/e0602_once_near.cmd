run e0602_once.rise --set n=65535 --arg xs=ones
