--emit=ast unclosed_text.rise
exit 1
