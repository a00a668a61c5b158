"""Verification 13: seismograms of a double couple in a full space against Aki & Richards (2002), eq. 4.29.

Ten points in the wavelength of S waves at 2.5 times the peak frequency. Receivers are not nearer than 13 cells: there
the source's sinc has died out. Sides are far away, or their layers thick, since little of these waves is to come back.
"""

import numpy as np
import pytest
from elastic_full_space import Solid, double_couple, moment_motion
from elastic_product import Run, misfit
from source_functions import ricker
from support import FULL

pytestmark = pytest.mark.verify

SOLID = Solid(2000.0, 1150.0, 2000.0)
ANGLES, MOMENT = (30.0, 50.0, 70.0), 1e12
SPACING = 10.0
FREQUENCY = SOLID.vs / (10 * SPACING) / 2.5
WAVELENGTH = SOLID.vs / FREQUENCY  # dominant, of S waves: 25 cells
NEAR = ((13.3, 6.2, -7.4), (-4.2, 15.2, 10.3), (16.4, -12.2, -14.3), (-16.2, 2.1, 19.4))  # cells
FAR = ((31.7, 13.2, -9.3), (58.4, -16.2, -14.3), (98.2, 15.2, 10.3), (124.4, 6.2, -7.4))


def errors(offsets, sides, width, **propagation):
    """Distances in dominant wavelengths and relative L2 errors at offsets (cells) from the source; sides: cells from
    the points to the layers, width: of these. propagation: keys."""
    at = np.array(offsets) * SPACING
    low = np.minimum(at.min(0), 0) - sides * SPACING
    cells = np.ceil((np.maximum(at.max(0), 0) - low) / SPACING + sides).astype(int)
    source = np.array([0.3, -0.4, 0.2]) * SPACING
    distance = np.linalg.norm(at, axis=1)
    product = Run(
        shape=tuple(cells + 1),
        spacing=SPACING,
        model={"vp": SOLID.vp, "vs": SOLID.vs, "density": SOLID.density},
        source_at=tuple(source),
        receivers=source + at,
        source=dict(zip(("kind", "strike", "dip", "rake", "moment"), ("double-couple", *ANGLES, MOMENT), strict=True)),
        wavelet={"kind": "ricker", "peak_frequency": FREQUENCY},
        duration=distance.max() / SOLID.vs + 1.5 / FREQUENCY,
        interval=0.05 / FREQUENCY,
        origin=tuple(np.floor(low / SPACING) * SPACING),
        propagation={"boundary": {"kind": "pml", "width": width}} | propagation,
    )()
    f, tensor = ricker(FREQUENCY, product.lead), double_couple(*ANGLES, MOMENT)
    exact = moment_motion(SOLID, tensor, f, source, source + at, product.fine_times)  # f: the moment rate
    wanted = product.as_recorded(exact.swapaxes(0, 1))
    return distance / WAVELENGTH, [misfit(product.traces[:, n], wanted[:, n]) for n in range(len(at))]


def test_a_double_couple_in_a_full_space():
    assert max(errors(NEAR, 7, 20)[1]) <= 0.01


@pytest.mark.skipif(not FULL, reason="full size only (make verify)")
def test_five_wavelengths():
    distances, found = errors(FAR, 12, 12)
    assert distances.max() > 4.9
    assert max(found) <= 0.01


@pytest.mark.skipif(not FULL, reason="full size only (make verify)")
def test_time_dispersion_is_corrected():
    """Half of the error at five wavelengths and more is that of the time steps."""
    assert max(errors(FAR, 12, 12, time_dispersion="none")[1]) >= 2 * max(errors(FAR, 12, 12)[1])
