lower attention_lse_heads.rise causal --plan
