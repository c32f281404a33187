check ../../examples/sum.rise --expect none.expect
exit 2
