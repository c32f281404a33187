sums.rise -o -
