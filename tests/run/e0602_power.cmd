run ../programs/powers.rise offset --set k=51 --arg xs=iota
exit 1
