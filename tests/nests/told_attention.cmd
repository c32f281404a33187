test told_attention.rise
