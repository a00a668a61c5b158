"""Verification 13: interfaces and water on top, in two dimensions, and attenuation, against wavenumber integration.

Ten points in the wavelength of the slowest waves at 2.5 times the peak frequency, unless something else is said.
"""

from dataclasses import replace

import numpy as np
import pytest
from elastic_product import Run, misfit
from layered_kernels import Layer
from layered_runs import Layered
from source_functions import ricker
from support import FULL
from wavenumber_integration import seismograms

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


@pytest.mark.parametrize("shift", [0.5, 0.0])
def test_water_on_top(shift):
    assert seafloor(shift).max() <= 0.01


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


TENSOR = {"mxx": 1e9, "myy": -0.5e9, "mzz": 0.2e9, "mxy": 0.6e9, "mxz": -0.4e9, "myz": 0.8e9}
FORCE = (0.3, 1.0, -0.5)
DIRECTIONS = np.array([(1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1)])


def in_three_dimensions(quality, kind):
    """Relative L2 errors of all components, five wavelengths of S waves away in each of DIRECTIONS."""
    vp, vs, density = UPPER
    frequency = vs / (10 * SPACING) / 2.5
    at, distance = np.full(3, 303.0), 5 * vs / frequency
    receivers = at + distance * DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1)[:, None]
    shape = tuple(int(n) for n in receivers.max(0) / SPACING + 25)
    product = Run(
        shape=shape,
        spacing=SPACING,
        model={"vp": np.full(shape[2], vp), "vs": vs, "density": density, "qp": quality, "qs": quality},
        source_at=tuple(at),
        receivers=receivers,
        source={"kind": kind} | ({"vector": list(FORCE)} if kind == "force" else TENSOR),
        wavelet={"kind": "ricker", "peak_frequency": frequency},
        duration=distance / vs + 1.8 / frequency,
        interval=0.05 / frequency,
        components=("vx", "vy", "vz"),
        reference=frequency,
        propagation={"boundary": {"kind": "pml", "width": 20}},
    )()
    f, t = ricker(frequency, product.lead), product.fine_times
    moment = np.array([[TENSOR["m" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
    keys = {"force": FORCE, "order": 1} if kind == "force" else {"moment": moment, "order": 0}
    layer = Layer(0, vp, vs, density, quality, quality)
    exact = seismograms([layer], at, receivers, t, f, 3.75 * frequency, free_surface=False, reference=frequency, **keys)
    wanted = product.as_recorded(exact.swapaxes(0, 1))
    return [misfit(product.traces[:, n], wanted[:, n]) for n in range(len(receivers))]


@pytest.mark.skipif(not FULL, reason="full size only (make verify)")
@pytest.mark.parametrize("kind", ["force", "moment-tensor"])
def test_attenuation_is_the_same_in_all_directions(kind):
    assert max(in_three_dimensions(20.0, kind)) <= 0.03
