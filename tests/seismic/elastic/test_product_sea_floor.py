"""Verification 13: next to a sea floor, in two dimensions, against wavenumber integration and Zoeppritz' equations.

Water over rock, cells of 10 m, a Ricker wavelet of 6 Hz, unless something else is said: 10 points in the wavelength at
2.5 times that frequency in water, 11 in that of S waves.
"""

import numpy as np
import pytest
from elastic_product import misfit
from layered_kernels import Layer
from layered_runs import Layered
from scipy.optimize import brentq

SPACING, FREQUENCY = 10.0, 6.0
WAVELENGTH = 250.0  # in water
WATER = (1500.0, 0.0, 1000.0)  # vp, vs, density
ROCK, SOFT = (3000.0, 1700.0, 2200.0), (1700.0, 400.0, 1800.0)
BOTH = ("vx", "vz", "pressure")
TENSOR = (1e9, -0.5e9, 0.7e9)


def sea(floor, source, receivers, spacing=SPACING, offsets=(1.0, 2.0, 3.0), **keys):
    """Depths of the floor, of the source and of receivers some wavelengths away, m."""
    last = offsets[-1] * WAVELENGTH
    return Layered(
        (Layer(floor, *WATER), Layer(0, *ROCK)),
        (int((403 + last) / spacing), int(1100 / spacing)),
        spacing,
        FREQUENCY,
        (203.0, source),
        [[203.0 + offset * WAVELENGTH, receivers] for offset in offsets],
        max(last + 600, 1100) / 1500 + 1.8 / FREQUENCY,  # not cut in the middle of a wave
        free_surface=True,
        **{"components": BOTH} | keys,
    )


def errors(layers):
    """Relative L2 errors (components, receivers); the absorbing layers are 600 m wide."""
    found = layers.found(boundary={"kind": "pml", "width": round(600 / layers.spacing)})
    exact = layers.exact(found)
    pairs = zip(found.traces, exact, strict=True)
    return np.array([[misfit(*traces) for traces in zip(*both, strict=True)] for both in pairs])


NEAR = {"source 45 m, receivers 85 m above": (560.0, 520.0), "source 95 m, receivers 5 m above": (510.0, 600.0)}


@pytest.mark.parametrize("place", NEAR)
def test_source_and_receivers_near_the_floor(place):
    assert errors(sea(605.0, *NEAR[place])).max() <= 0.01


@pytest.mark.verify
@pytest.mark.parametrize("part", [0.5, 0.25, 0.75])
@pytest.mark.parametrize("place", NEAR)
def test_order_next_to_the_floor(place, part):
    """The floor half a cell below nodes and elsewhere between them."""
    coarse, fine = (errors(sea(600 + part * h, *NEAR[place], spacing=h)) for h in (10.0, 5.0))
    assert coarse.max() <= 0.02
    assert np.log2(np.linalg.norm(coarse) / np.linalg.norm(fine)) >= 1.8


@pytest.mark.verify
@pytest.mark.parametrize("source", [608.0, 615.0])
def test_a_moment_tensor_just_below_the_floor(source):
    """Recorded in the rock on the floor, below it, and in the water on it and above."""
    offsets = {"offsets": (0.5, 1.0, 2.0), "tensor": TENSOR}
    motion = {"components": ("vx", "vz")}
    for depth, side in ((605.0, 1e-6), (608.0, 0.0), (602.0, 0.0)):
        assert errors(sea(605.0, source, depth, side=side, **offsets, **motion)).max() <= 0.03
    for depth, side in ((605.0, -1e-6), (602.0, 0.0)):
        assert errors(sea(605.0, source, depth, side=side, components=("pressure",), **offsets)).max() <= 0.025


@pytest.mark.parametrize(("floor", "most"), [(605.0, 0.013), (602.5, 0.025)])
def test_receivers_and_sources_on_the_floor(floor, most):
    """Velocities in the floor are the rock's, pressure is the water's; a force in it pulls at the rock."""
    offsets = (0.5, 1.0)
    motion = {"components": ("vx", "vz"), "offsets": offsets, "side": 1e-6}
    assert errors(sea(floor, 595.0, floor, **motion)).max() <= most
    assert errors(sea(floor, floor, floor, force=(1.0, 0.5), **motion)).max() <= most
    water = {"components": ("pressure",), "offsets": offsets, "side": -1e-6}
    assert errors(sea(floor, 595.0, floor, **water)).max() <= most


def scholte(rock):
    """Speed of waves along the contact (Scholte 1947, Geophys. Suppl. MNRAS 5)."""
    vp, vs, density = rock

    def root(speed, velocity):
        return np.sqrt(1 - (speed / velocity) ** 2)

    def secular(c):
        rayleigh = (2 - (c / vs) ** 2) ** 2 - 4 * root(c, vp) * root(c, vs)
        return density * vs**4 * rayleigh * root(c, WATER[0]) + WATER[2] * c**4 * root(c, vp)

    top = min(WATER[0], vs) * (1 - 1e-9)
    return brentq(secular, 0.7 * top, top)


@pytest.mark.verify
@pytest.mark.parametrize(("part", "most"), [(0.5, 0.004), (0.25, 0.006)])
@pytest.mark.parametrize("rock", [ROCK, SOFT])
def test_speed_of_waves_along_the_floor(rock, part, most):
    """Ten cells in their wavelength: phases 6 and 14 wavelengths away beside those of the integration."""
    speed, near, far = scholte(rock), 6, 14
    wavelength = 10 * SPACING
    frequency, floor = speed / wavelength, (30 + part) * SPACING
    layers = Layered(
        (Layer(floor, *WATER), Layer(0, *rock)),
        ((far + 6) * 10, 90),
        SPACING,
        frequency / 1.2,
        (3 * wavelength, floor - 0.3 * wavelength),
        [[(3 + n) * wavelength, floor] for n in (near, far)],
        (far + 6) / frequency + 2.4 / frequency,
        components=("vz", "pressure"),
    )
    found = layers.found(boundary={"kind": "pml", "width": 40})
    exact, t = layers.exact(found), found.times
    for traces, wanted in zip(found.traces, exact, strict=True):
        phase = []
        for n, trace, other in zip((near, far), traces, wanted, strict=True):
            window = np.exp(
                -(((t - n / frequency - 1.44 / frequency) * frequency / 2.5) ** 2) - 2j * np.pi * frequency * t
            )
            phase.append(np.angle((window * trace).sum() / (window * other).sum()))
        assert abs(phase[1] - phase[0]) / (2 * np.pi * (far - near)) <= most


def reflection(slowness):
    """Of plane P waves' pressure (Zoeppritz 1919; of water over rock, Brekhovskikh 1960), exp(i w t)."""

    def vertical(velocity):
        return np.conj(np.sqrt(1 / velocity**2 - slowness**2 + 0j))

    vp, vs, density = ROCK
    rock = density * ((1 - 2 * (vs * slowness) ** 2) ** 2 / vertical(vp) + 4 * vs**4 * slowness**2 * vertical(vs))
    water = WATER[2] / vertical(WATER[0])
    return (rock - water) / (rock + water)


@pytest.mark.verify
@pytest.mark.parametrize("part", [0.5, 0.25])
def test_reflection_of_plane_waves(part):
    """From 0 to 55 degrees but next to the critical angle of 30, at 12 cells in the wavelength: an explosion's waves,
    taken apart along a line of receivers on both sides of it."""
    half, floor, source, line, frequency = 400, (60 + part) * SPACING, 200.0, 400.0, 12.0
    x = SPACING * np.arange(2 * half + 1)

    def pressure(*layers):
        run = Layered(layers, (len(x), 110), SPACING, FREQUENCY, (half * SPACING, source),
                      [[place, line] for place in x], 4.2, components=("pressure",))  # fmt: skip
        product = run.found(boundary={"kind": "pml", "width": 60})
        return product.times, product.traces[0]

    t, both = pressure(Layer(floor, *WATER), Layer(0, *ROCK))
    _, direct = pressure(Layer(0, *WATER))
    end = np.sin(np.pi / 2 * np.clip((t[-1] - t) / 0.5, 0, 1)) ** 2
    ends = np.sin(np.pi / 2 * np.clip((half - np.abs(np.arange(len(x)) - half)) / (0.4 * half), 0, 1)) ** 2
    wave = np.exp(-2j * np.pi * frequency * t) * end
    reflected, incident = (both - direct) @ wave * ends, direct @ wave * ends
    for angle in (*range(0, 27, 3), *range(33, 57, 3)):
        slowness = np.sin(np.radians(angle)) / WATER[0]
        along = np.exp(2j * np.pi * frequency * slowness * (x - half * SPACING))
        further = 2 * floor - source - line - (line - source)
        back = np.exp(2j * np.pi * frequency * np.cos(np.radians(angle)) / WATER[0] * further)
        assert abs((reflected @ along) / (incident @ along) * back - reflection(slowness)) <= 0.02
