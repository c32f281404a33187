lower trace.rise total --json --profile --verify-each --set n=1000
