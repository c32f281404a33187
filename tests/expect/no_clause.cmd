test results_wrong.rise --clause 3
