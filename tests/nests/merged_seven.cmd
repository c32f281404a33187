lower merged.rise five --plan
