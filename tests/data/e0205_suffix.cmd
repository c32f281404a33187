run echo --arg xs=ones
exit 2
