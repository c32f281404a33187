check axpy.rise --costs e0663.costs
exit 1
