--emit=ast zero_byte.rise
exit 1
