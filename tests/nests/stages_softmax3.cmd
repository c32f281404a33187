lower stages.rise softmax3 --strategy stored
