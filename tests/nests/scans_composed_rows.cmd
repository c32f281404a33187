run scans.rise composedRows --set n=3 --set m=5001 --arg a=uniform --arg b=uniform --verify
