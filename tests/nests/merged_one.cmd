lower merged.rise one --plan --json
