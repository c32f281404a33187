sums.rise --emit=cuda
