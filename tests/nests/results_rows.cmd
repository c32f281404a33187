lower results.rise unitRows --plan
