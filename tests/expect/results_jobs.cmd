test results.rise tripled.rise ../run/two.rise -j 2
exit 1
