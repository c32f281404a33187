fmt numbers.rise -o -
