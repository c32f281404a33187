run axpy.rise --n 1000
exit 2
