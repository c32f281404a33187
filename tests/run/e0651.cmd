sums.rise -o x.cubin --arch=compute_90
exit 2
