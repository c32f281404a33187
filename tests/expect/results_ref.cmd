test results.rise --device ref --entry double
exit 0
