lower e0806_near.rise f --verify-each
