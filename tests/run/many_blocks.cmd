run many_blocks.rise --set n=3 --arg xs=iota --verify
