test row_places.rise
