check --laws e0808_beside.rise
exit 1
