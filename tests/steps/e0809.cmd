check --laws e0809.rise
exit 1
