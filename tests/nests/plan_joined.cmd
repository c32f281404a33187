lower plan.rise joined --plan --set n=8 --set m=512 --set k=1024
