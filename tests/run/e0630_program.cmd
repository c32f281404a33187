two.rise -o two.rise
exit 2
