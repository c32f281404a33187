lower costs.rise weighted --plan --costs other.costs
