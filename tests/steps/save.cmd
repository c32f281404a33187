lower trace.rise total --save -
