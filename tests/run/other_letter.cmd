axpy.rise -O3
exit 2
