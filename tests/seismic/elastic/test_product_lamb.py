"""Verification 13: forces on a free surface, recorded on it: Lamb's problem in two and three dimensions.

Ten points in the wavelength of S waves at 2.5 times the peak frequency: 25 in the dominant one.
"""

import numpy as np
import pytest
from elastic_full_space import Solid
from elastic_product import Run, misfit
from lamb_support import lamb, lamb_line
from source_functions import ricker
from support import FULL

pytestmark = pytest.mark.verify

SOLID = Solid(2000.0, 1150.0, 2000.0)
SPACING, WIDTH, SIDES = 10.0, 20, 15  # cells of the layers; from the points to these
AZIMUTH = 0.3  # of the line of receivers in three dimensions
TURN = np.array([[np.cos(AZIMUTH), np.sin(AZIMUTH), 0], [-np.sin(AZIMUTH), np.cos(AZIMUTH), 0], [0, 0, 1]])


def errors(dimensions, force, distances, points=10, dt="auto"):
    """Relative L2 errors (components, receivers) at distances in dominant wavelengths; points: in the shortest one."""
    frequency = SOLID.vs / (points * SPACING) / 2.5
    r = np.array(distances) * SOLID.vs / frequency
    source = np.array([0.3 * SPACING, 0.0, 0.0])
    at = source + np.outer(r, TURN[0] if dimensions == 3 else [1.0, 0, 0])
    far = np.ceil(at.max(0) / SPACING).astype(int) + 2 * SIDES
    deep = round(0.8 * 2.5 * points) + SIDES
    product = Run(
        shape=(far[0], far[1] if dimensions == 3 else 1, deep),
        spacing=SPACING,
        model={"vp": SOLID.vp, "vs": SOLID.vs, "density": SOLID.density},
        source_at=tuple(source),
        receivers=at,
        source={"kind": "force", "vector": list(force)},
        wavelet={"kind": "ricker", "peak_frequency": frequency},
        duration=r.max() / (0.9 * SOLID.vs) + 1.6 / frequency,
        interval=0.05 / frequency,
        free_surface=True,
        origin=(-SIDES * SPACING, -SIDES * SPACING * (dimensions == 3), 0.0),
        propagation={"boundary": {"kind": "pml", "width": WIDTH}, "dt": dt},
    )()
    f, t = ricker(frequency, product.lead), product.fine_times
    motion = of_point if dimensions == 3 else of_line
    exact = np.array([motion(f, distance, t, np.array(force)) for distance in r])
    wanted = product.as_recorded(exact.swapaxes(0, 1))
    return np.array([list(map(misfit, *pair)) for pair in zip(product.traces, wanted, strict=True)])


def of_line(f, distance, t, force):
    zz, xz, xx = lamb_line(SOLID, f, distance, t, 1)
    return force[0] * xx + force[2] * xz, force[2] * zz - force[0] * xz


def of_point(f, distance, t, force):
    zz, xz, xx, yy = lamb(SOLID, f, distance, t, 1)
    x, y, z = TURN @ force
    return TURN.T @ np.array([x * xx + z * xz, y * yy, z * zz - x * xz])


@pytest.mark.parametrize("force", [(0.0, 0, 1), (1.0, 0, 0)], ids=["vertical", "horizontal"])
def test_a_line_force(force):
    assert errors(2, force, (0.5, 1, 2)).max() <= 0.03


@pytest.mark.parametrize("force", [(0.0, 0, 1), (1.0, 0, 0)], ids=["vertical", "horizontal"])
def test_a_point_force(force):
    if not FULL and force[0]:
        pytest.skip("full size only (make verify)")
    assert errors(3, force, (0.5, 1, 1.8) if FULL else (0.8,)).max() <= 0.03
