"""Verification 13: interfaces, water on top and attenuation, in two dimensions, against wavenumber integration.

Ten points in the wavelength of the slowest waves at 2.5 times the peak frequency, unless something else is said.
"""

from dataclasses import replace

import numpy as np
import pytest
from elastic_product import misfit
from layered_kernels import Layer
from layered_runs import Layered
from support import FULL

pytestmark = pytest.mark.verify

SPACING = 10.0
UPPER, LOWER = (2000.0, 1150.0, 2000.0), (2800.0, 1500.0, 2300.0)  # vp, vs, density
WATER = (1500.0, 0.0, 1000.0)
DEPTH = 60  # cells above the interface
OFFSETS = ((0.1, 353.0), (1.0, 303.0), (2.0, 203.0))  # of receivers: wavelengths, and depth in m


def each(found, wanted):
    """Relative L2 errors (components, receivers)."""
    return np.array([list(map(misfit, *pair)) for pair in zip(found, wanted, strict=True)])


def over(upper, shift=0.5, points=10, **keys):
    """A survey above an interface `shift` cells below a node."""
    slowest = upper[1] or upper[0]
    frequency = slowest / (points * SPACING) / 2.5
    wavelength = slowest / frequency
    return Layered(
        (Layer((DEPTH + shift) * SPACING, *upper), Layer(0, *LOWER)),
        (40 + round(2 * wavelength / SPACING), DEPTH + 50),
        SPACING,
        frequency,
        (203.0, 303.0),
        [[203.0 + offset * wavelength, depth] for offset, depth in OFFSETS],
        (2 * wavelength + 600) / slowest + 1.8 / frequency,
        **keys,
    )


def reflection(shift):
    """Errors of what an interface adds to the waves of a vertical force, of vx and vz a wavelength away and two."""
    layers = over(UPPER, shift, force=(0.0, 1.0))
    alone = replace(layers, layers=(Layer(0, *UPPER),))
    found, direct = layers.found(dt=0.0018), alone.found(dt=0.0018)
    return each(found.traces - direct.traces, layers.exact(found) - alone.exact(direct))[:, 1:]


@pytest.mark.parametrize(("shift", "most"), [(0.5, 0.05), (0.0, 0.08)] if FULL else [(0.5, 0.05)])
def test_an_interface_between_nodes(shift, most):
    """Half a cell below a node it lies where the means put it; elsewhere errors are twice that."""
    assert reflection(shift).max() <= most


def seafloor(shift=0.5, points=10):
    """Errors of vx, vz and pressure of an explosion in water: below a free surface, above rock."""
    layers = over(WATER, shift, points, components=("vx", "vz", "pressure"), free_surface=True)
    found = layers.found()
    return each(found.traces, layers.exact(found))


def test_water_on_top():
    assert seafloor().max() <= 0.05


def lossy(kind, quality, points=10):
    """Of P waves of an explosion or S waves of a force, 2, 5 and 10 wavelengths away: energy's root over the exact one
    less 1, and relative L2 errors, each (3,); the same without attenuation, L2 alone."""
    vp, vs, density = UPPER
    velocity = vp if kind == "p" else vs
    frequency = velocity / (points * SPACING) / 2.5
    offsets = np.array([2, 5, 10]) * velocity / frequency
    plain = Layered(
        (Layer(0, vp, vs, density),),
        (round(offsets[-1] / SPACING) + 40, 120),
        SPACING,
        frequency,
        (203.0, 603.0),
        [[203.0 + offset, 620.0] for offset in offsets],
        offsets[-1] / velocity + 1.8 / frequency,
        None if kind == "p" else (0.0, 1.0),
        ("vx",) if kind == "p" else ("vz",),
    )
    damped = replace(plain, layers=(replace(plain.layers[0], qp=quality, qs=quality),), reference=frequency)
    keys = {"dt": 0.0012}  # so that the error in time is small
    found, without = damped.found(**keys), plain.found(**keys)
    exact = damped.exact(found)
    amplitude = np.linalg.norm(found.traces[0], axis=1) / np.linalg.norm(exact[0], axis=1) - 1
    return amplitude, each(found.traces, exact)[0], each(without.traces, plain.exact(without))[0]


@pytest.mark.parametrize("quality", [20.0, 50.0, 100.0])
@pytest.mark.parametrize("kind", ["p", "s"])
def test_attenuation_over_ten_wavelengths(kind, quality):
    amplitude, error, without = lossy(kind, quality)
    assert np.abs(amplitude).max() <= 0.03
    assert (error <= without + 0.03).all()
    assert error.max() <= 0.03
