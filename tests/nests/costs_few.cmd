lower costs.rise few --plan
