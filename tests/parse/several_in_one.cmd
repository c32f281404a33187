--emit=ast several_in_one.rise
exit 1
