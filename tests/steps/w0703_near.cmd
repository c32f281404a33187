check --laws w0703_near.rise
