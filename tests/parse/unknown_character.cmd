--emit=ast unknown_character.rise
exit 1
