check --laws e0808.rise
exit 1
