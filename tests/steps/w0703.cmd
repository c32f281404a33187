check --laws w0703.rise
