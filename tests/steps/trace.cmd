lower trace.rise total --trace --profile --verify-each
