lower trace.rise total --replay e0807_bad.json
exit 1
