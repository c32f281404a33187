check ../run/two.rise --expect two.expect
exit 1
