--emit=ast number_range.rise
exit 1
