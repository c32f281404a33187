lower plan.rise planes --plan --json --set n=8 --set m=512 --set k=1024
