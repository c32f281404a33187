--emit=ast strategies.rise
exit 1
