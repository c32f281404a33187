lower beside.rise residual --plan
