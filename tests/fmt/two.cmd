fmt layouts.rise numbers.rise -o -
exit 2
