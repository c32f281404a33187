lower axes.rise firstAndSecond --strategy stored
