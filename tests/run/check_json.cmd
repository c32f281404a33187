check --json ../check/e0303.rise ../check/hints_proposed_one.rise
exit 1
