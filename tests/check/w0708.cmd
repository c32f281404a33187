lower w0708.rise --plan --set n=16 --set m=2^15 --set numSM=132
exit 0
