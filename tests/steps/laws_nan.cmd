check --laws laws_nan.rise
