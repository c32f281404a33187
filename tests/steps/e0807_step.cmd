lower trace.rise total --replay e0807_step.json
exit 1
