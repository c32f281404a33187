lower product_results.rise bias --plan --set n=100 --set k=2000 --set m=100
