lower e0806.rise f --verify-each
exit 1
