--emit=ast body_missing.rise
exit 1
