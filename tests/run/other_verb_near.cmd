chek axpy.rise
exit 2
