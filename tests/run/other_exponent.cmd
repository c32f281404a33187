run axpy.rise --set n=1e6
exit 2
