check heads.csv
exit 2
