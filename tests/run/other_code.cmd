explain 303
exit 2
