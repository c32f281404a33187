lower costs.rise few --plan --costs other.costs
