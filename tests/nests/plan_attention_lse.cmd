lower attention_lse.rise causal --plan
