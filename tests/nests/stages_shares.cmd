lower stages.rise shares --strategy stored
