--emit=ast let_forms.rise
exit 1
