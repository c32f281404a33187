run first_of_worst.rise nans --verify
