lower ../run/laws.rise wrong --trace
exit 1
