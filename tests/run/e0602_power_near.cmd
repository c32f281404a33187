run ../programs/powers.rise offset --set k=50 --arg xs=iota
