check ../../examples/sum.rise --expect item.expect
exit 1
