check axpy.rise --costs ../nests/other.costs
