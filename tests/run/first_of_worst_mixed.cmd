run first_of_worst.rise mixed --verify
