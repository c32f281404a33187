sums.rise --emit=cuda -o ./sums.rise
exit 2
