sums.rise -o /no/such/folder/x.cubin --arch=compute_90
exit 2
