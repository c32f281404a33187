lower stages.rise pairs --strategy stored
