run folder
exit 2
