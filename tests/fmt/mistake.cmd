fmt mistake.rise -o -
exit 1
