--emit=ast number_suffix.rise
exit 1
