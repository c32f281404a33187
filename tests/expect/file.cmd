check ../../examples/sum.rise --expect sums.expect
