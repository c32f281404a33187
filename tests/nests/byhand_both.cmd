run byhand.rise both --set n=512 --arg xs=small --verify
