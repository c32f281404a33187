lower w0718_own.rise --strategy both
exit 0
