lower local.rise powers --strategy stored
