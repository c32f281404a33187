--emit=ast items.rise
exit 1
