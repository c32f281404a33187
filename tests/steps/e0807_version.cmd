lower trace.rise total --replay e0807_version.json
exit 1
