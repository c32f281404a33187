tune axpy.rise --device sim
exit 2
