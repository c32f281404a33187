test results.rise -v
exit 0
