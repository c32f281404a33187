lower trace.rise norm --replay trace.json --trace
exit 1
