check --laws laws.rise --seed 5
