run nested.rise --arg xs.1=ones --arg xs.2.1=ones --set n=2
exit 2
