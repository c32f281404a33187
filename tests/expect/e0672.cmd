test ../run/two.rise
exit 1
