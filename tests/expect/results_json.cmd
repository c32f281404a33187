test results.rise --json
exit 0
