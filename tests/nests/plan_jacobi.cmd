lower plan.rise jacobi --plan --set n=4096 --set m=4096 --set steps=100
