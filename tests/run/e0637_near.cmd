run halves.rise --set n=300 --arg xs=ones --verify
