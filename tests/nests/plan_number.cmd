lower plan_number.rise --plan
