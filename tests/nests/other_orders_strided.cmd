run other_orders.rise strided --set n=128 --arg xs=small --verify
