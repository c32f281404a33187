--emit=ast clauses.rise
exit 1
