lower plan.rise attention --plan
