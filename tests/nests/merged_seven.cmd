lower merged.rise seven --plan
