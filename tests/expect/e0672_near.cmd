test results.rise
exit 0
