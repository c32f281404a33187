lower ../../examples/high/derived_sums.rise sum3 --trace --step 12
