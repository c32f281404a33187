lower costs.rise pairs --plan
