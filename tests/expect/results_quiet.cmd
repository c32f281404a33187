test results.rise -q
exit 0
