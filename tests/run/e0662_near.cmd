tune tunable.rise --device sim --sizes n=64 -o -
