--emit=ast operands_missing.rise
exit 1
