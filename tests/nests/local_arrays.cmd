lower local.rise arrays --strategy stored
