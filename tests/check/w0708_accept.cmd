lower w0708_accept.rise --plan --set n=16 --set m=2^20 --set numSM=132
exit 0
