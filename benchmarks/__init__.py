"""Measurements of the kernels and the absorbing boundaries: `make bench` writes docs/performance.md."""
