fmt comments.rise -o -
