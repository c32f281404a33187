sums.rise -o no_such_folder/sum.cu
exit 2
