--emit=ast juxtaposition.rise
exit 1
