fmt --check layouts.rise
exit 1
