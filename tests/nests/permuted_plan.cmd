lower permuted_axes.rise reversed --plan
