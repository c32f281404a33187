lower told_attention.rise attended --plan --set h=1 --set n=4 --set d=1000 --set e=1
