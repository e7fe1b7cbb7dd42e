"""Models: the upstreams of the host and what each person lets them see."""
