check --laws laws_indices.rise
exit 1
