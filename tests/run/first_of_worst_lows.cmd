run first_of_worst.rise lows --verify
