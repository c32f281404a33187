lower few_rows.rise centred --plan --set a=2 --set b=3 --set m=100000
