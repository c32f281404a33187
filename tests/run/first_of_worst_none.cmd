run first_of_worst.rise none --verify
