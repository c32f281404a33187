test results_wrong.rise --clause 5 --set n=3
exit 1
