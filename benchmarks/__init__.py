"""Measurements of the kernels and the absorbing sides: `make bench` writes docs/performance.md."""
