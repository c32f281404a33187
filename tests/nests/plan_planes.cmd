lower plan.rise planes --plan --set n=8 --set m=512 --set k=1024
