"""The coverage of an image by traces, beside a direct sum of Gaussians."""

import numpy as np
import pytest

from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.coverage import ZONE, Coverage

VELOCITY, TIME = 2500.0, 0.8
DEVIATION = 0.5 * ZONE * VELOCITY * np.sqrt(TIME / 25.0)


@pytest.mark.parametrize("spacing", [5.0, 0.1, 0.02])
def test_places_of_any_fineness_have_the_coverage_of_a_sum_over_traces(spacing):
    """At 0.02 m, as of places in km, the Gaussian is thousands of places wide: this took minutes and gigabytes."""
    middles = np.sort(np.random.default_rng(3).uniform(-700.0, 900.0, (90, 2)), axis=0)
    areas = np.full(90, 40_000.0)
    grid = Grid((9, 5, 1), (spacing, 2 * spacing, 0.004), (10.0, -40.0, TIME))
    found = 1.0 / divided(Coverage(grid, middles, areas, 2.0), grid)
    x, y = (grid.origin[axis] + grid.spacing[axis] * np.arange(grid.shape[axis]) for axis in (0, 1))
    apart = [(at[:, None] - middles[:, axis]) ** 2 for axis, at in enumerate((x, y))]
    # Between two Gaussians, each twice as wide as the one before, it is linear in the logarithm of the width.
    narrowest = max(2.0, 2 * spacing)
    level = np.log2(DEVIATION / narrowest)
    direct = 0.0
    for number, part in ((int(level), 1 - level % 1), (int(level) + 1, level % 1)):
        two = 2 * (narrowest * 2.0**number) ** 2
        direct = direct + part * np.exp(-apart[0] / two) @ (areas[:, None] * np.exp(-apart[1] / two).T) / (np.pi * two)
    assert direct.min() > 0.6
    np.testing.assert_allclose(found, direct, rtol=5e-3)


def divided(coverage: Coverage, grid: Grid) -> np.ndarray:
    """An image of ones, divided: (nx, ny)."""
    image = np.ones(grid.shape)
    coverage.divide(image, np.full(grid.shape, VELOCITY, np.float32), (0, 0))
    return image[..., 0]
