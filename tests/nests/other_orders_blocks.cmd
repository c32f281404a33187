run other_orders.rise blocks --set a=3 --set b=2 --set c=5 --set d=4 --set e=3 --arg xs=small --verify
