lower turned_meant.rise chosen
exit 1
