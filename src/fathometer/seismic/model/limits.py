"""Accepted ranges of model values: outside them a unit is wrong rather than a rock unusual."""

SLOWEST, FASTEST = 300.0, 9000.0  # m/s, vp
GIVEN = (100.0, 20_000.0)  # m/s, vp whose units the survey or an option gives
SLOWEST_SHEAR = 50.0  # m/s, vs; in fluids it is 0
DENSITIES = (100.0, 25000.0)  # kg/m3
THOMSEN = (-0.5, 2.0)  # epsilon and delta, the lower end excluded
CELLS = (1e-6, 1e6)  # m, spacing
FARTHEST = 1e9  # m, origin: beyond it float64 does not resolve cells and SEG-Y headers cannot hold coordinates


def velocity_range(units: str | None) -> tuple[float, float]:
    """The least and greatest vp (m/s) that are taken; units: as the survey or an option gives them, None: it does
    not."""
    return (SLOWEST, FASTEST) if units is None else GIVEN
