lower trace.rise total --replay trace.json
