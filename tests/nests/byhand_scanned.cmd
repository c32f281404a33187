run byhand.rise scanned --set n=512 --arg xs=small --verify
