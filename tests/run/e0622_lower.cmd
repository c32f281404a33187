lower two.rise --plan
exit 2
