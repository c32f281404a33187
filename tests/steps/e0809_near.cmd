check --laws e0809_near.rise
