check ../../examples/sum.rise --expect wrong.expect
exit 1
