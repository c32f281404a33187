run byhand.rise beside --set n=512 --set m=300 --arg xs=small --verify
