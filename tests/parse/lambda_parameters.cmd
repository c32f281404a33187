--emit=ast lambda_parameters.rise
exit 1
