lower e0807_rule.rise total --replay trace.json
exit 1
