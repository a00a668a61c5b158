"""Accepted ranges of model values: outside them a unit is wrong rather than a rock unusual."""

SLOWEST, FASTEST = 300.0, 9000.0  # m/s, vp
THOMSEN = (-0.5, 2.0)  # epsilon and delta, the lower end excluded
CELLS = (1e-6, 1e6)  # m, spacing
FARTHEST = 1e9  # m, origin: beyond it float64 does not resolve cells and SEG-Y headers cannot hold coordinates
