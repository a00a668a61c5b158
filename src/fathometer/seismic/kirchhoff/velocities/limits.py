"""Accepted ranges: outside them a unit is wrong rather than a rock unusual."""

SLOWEST, FASTEST = 100.0, 20_000.0  # m/s, RMS and interval velocities
ETA = (-0.3, 2.0)  # effective eta, the lower end excluded
LATEST = 60.0  # s: later times of picks and volumes are milliseconds
EDGE = 0.5  # cells that a column may lie outside a volume or a model: half of one
SLAB_VALUES = 1 << 18  # of an array that is worked on at a time: a score of them are alive
