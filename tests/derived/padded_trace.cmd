lower ../../examples/high/derived_transpositions.rise padded --trace
