fmt layouts.rise --lines 3:4 -o -
