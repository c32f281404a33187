--emit=ast other_languages.rise
exit 1
