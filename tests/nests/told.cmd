test told.rise
