lower decided.rise byData --strategy stored
