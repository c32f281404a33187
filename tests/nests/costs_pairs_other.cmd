lower costs.rise pairs --plan --costs other.costs
