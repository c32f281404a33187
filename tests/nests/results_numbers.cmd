lower results.rise numbers --plan --json
