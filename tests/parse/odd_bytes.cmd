--emit=ast odd_bytes.rise
exit 1
