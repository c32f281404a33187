sums.rise -o sum.o
exit 2
