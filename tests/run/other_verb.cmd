build axpy.rise
exit 2
