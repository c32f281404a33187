lower w0708.rise --plan --set n=67 --set m=2^20 --set numSM=132
exit 0
