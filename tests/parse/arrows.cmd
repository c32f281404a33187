--emit=ast arrows.rise
exit 1
