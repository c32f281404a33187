lower told.rise channelsFirst --plan
