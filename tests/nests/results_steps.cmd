lower results.rise steps --plan
