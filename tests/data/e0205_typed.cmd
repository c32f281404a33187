run ecco.rise --arg xs=ones
exit 2
