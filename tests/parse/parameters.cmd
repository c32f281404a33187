--emit=ast parameters.rise
exit 1
