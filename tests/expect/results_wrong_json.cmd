test results_wrong.rise --entry clipped --json
exit 1
