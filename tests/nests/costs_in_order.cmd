lower costs.rise inOrder --plan
