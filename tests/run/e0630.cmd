sums.rise -o sum.ptx
exit 2
