run scans.rise composed --set n=70001 --arg a=uniform --arg b=uniform --verify
