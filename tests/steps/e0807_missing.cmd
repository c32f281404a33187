lower e0807_missing.rise total --replay trace.json
exit 1
