"""Accepted ranges of model values: outside them a unit is wrong rather than a rock unusual."""

SLOWEST, FASTEST = 300.0, 9000.0  # m/s, vp
SLOWEST_SHEAR = 50.0  # m/s, vs; in fluids it is 0
DENSITIES = (100.0, 25000.0)  # kg/m3
THOMSEN = (-0.5, 2.0)  # epsilon and delta, the lower end excluded
CELLS = (1e-6, 1e6)  # m, spacing
FARTHEST = 1e9  # m, origin: beyond it float64 does not resolve cells and SEG-Y headers cannot hold coordinates
