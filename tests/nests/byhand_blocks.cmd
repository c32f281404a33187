run byhand.rise blocks --set n=512 --arg xs=small --verify
