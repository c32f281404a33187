lower ../programs/copied_tuples.rise f
