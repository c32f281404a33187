run scans.rise recurrence --set n=70000 --arg a=uniform:-5:5 --arg b=uniform:-5:5 --verify
