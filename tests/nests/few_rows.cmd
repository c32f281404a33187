test few_rows.rise
