lower decided.rise both --strategy stored
