lower stages.rise half --strategy stored
