lower e0806_tail.rise g --verify-each --seed 7
exit 1
