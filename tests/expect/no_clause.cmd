test results_wrong.rise --clause 3
exit 1
