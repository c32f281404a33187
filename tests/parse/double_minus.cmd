--emit=ast double_minus.rise
exit 1
