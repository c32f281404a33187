check --laws e0808_near.rise
