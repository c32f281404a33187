fmt --check formatted.rise
exit 0
