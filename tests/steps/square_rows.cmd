lower square_rows.rise f
