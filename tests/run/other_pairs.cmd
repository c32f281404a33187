run axpy.rise n=1000 xs=ones
exit 2
