lower merged.rise cosine --plan
