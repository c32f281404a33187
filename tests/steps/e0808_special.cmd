check --laws e0808_special.rise
exit 1
