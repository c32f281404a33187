run five.rise --arg xs=five.npy --profile --json
