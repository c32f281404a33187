check axpy.rise --costs e0663_missing.costs
exit 1
