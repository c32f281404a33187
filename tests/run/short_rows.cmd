lower short_rows.rise softmax --plan --set n=100000 --set m=10
