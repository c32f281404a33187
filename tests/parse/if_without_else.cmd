--emit=ast if_without_else.rise
exit 1
