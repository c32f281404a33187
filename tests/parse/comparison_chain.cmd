--emit=ast comparison_chain.rise
exit 1
