lower e0807_condition.rise rows --replay e0807_condition.json
exit 1
