test results_wrong.rise --entry clipped --set n=33 --arg xs=special --seed 1
exit 1
