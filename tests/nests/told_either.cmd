lower told.rise either --plan
