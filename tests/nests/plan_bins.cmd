lower ../../examples/high/arrays.rise histogram --plan --set n=1000000
