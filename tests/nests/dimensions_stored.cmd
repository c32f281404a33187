lower dimensions.rise mean3 --strategy stored
