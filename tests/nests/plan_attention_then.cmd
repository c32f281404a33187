lower attention_then.rise residual --plan
