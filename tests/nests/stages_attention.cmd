lower stages.rise attention --strategy stored
