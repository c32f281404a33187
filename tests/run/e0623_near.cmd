check sums.rise --set block=32
