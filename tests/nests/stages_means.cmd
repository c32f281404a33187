lower stages.rise means --strategy stored
