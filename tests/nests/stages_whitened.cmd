lower stages.rise whitened --strategy stored
