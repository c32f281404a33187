lower rows.rise softmax --strategy stored
