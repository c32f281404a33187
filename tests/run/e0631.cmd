run five.rise --arg xs=five.npy --expect five.npy
exit 1
