fmt layouts.rise -o -
