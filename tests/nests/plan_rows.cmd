lower plan.rise rows --plan
