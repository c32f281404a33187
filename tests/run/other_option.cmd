axpy.rise --target=sm_90
exit 2
