run five.rise --arg xs=five.npy --verify
