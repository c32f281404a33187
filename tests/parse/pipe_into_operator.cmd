--emit=ast pipe_into_operator.rise
exit 0
