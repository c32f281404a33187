--emit=ast equals.rise
exit 1
