lower merged.rise turned --plan
