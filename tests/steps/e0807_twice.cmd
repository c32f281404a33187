lower trace.rise twice --replay trace.json --trace
exit 1
