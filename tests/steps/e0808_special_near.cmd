check --laws e0808_special_near.rise
