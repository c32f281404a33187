lower w0708.rise --plan --set n=66 --set m=1000 --set numSM=132
exit 0
