lower axes.rise outside --strategy stored
