run beyond_31_bits.rise --device sim --set n=5000000000 --arg xs=iota
