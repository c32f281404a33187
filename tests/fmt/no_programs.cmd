fmt ../scripts
exit 2
