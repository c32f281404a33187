--emit=ast let_without_in.rise
exit 1
