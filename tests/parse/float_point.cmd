--emit=ast float_point.rise
exit 1
