--emit=ast brackets_unbalanced.rise
exit 1
