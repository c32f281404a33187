lower plan.rise hand --plan --set n=1000
