lower told.rise normalized --plan --set n=1024 --set d=1024
