fmt layouts.rise --lines 4
exit 2
