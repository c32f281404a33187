run other_orders.rise reversed --set a=3 --set b=5 --set c=7 --set d=4 --arg xs=small --verify
