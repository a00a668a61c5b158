"""Verification 1: traces in a homogeneous isotropic medium against the analytic solution."""

import numpy as np
import pytest
from support import FULL, Medium, ricker, times

pytestmark = pytest.mark.verify

VELOCITY, FREQUENCY = 2000.0, 15.0
WAVELENGTH = VELOCITY / FREQUENCY
START = -1.6 / FREQUENCY


def exact_3d(t, r):
    """p = f(t - r/c) / (4 pi r)."""
    return ricker(t - r / VELOCITY, FREQUENCY) / (4 * np.pi * r)


def exact_2d(t, r):
    """p = 1/(2 pi) int f(t - s) / sqrt(s^2 - (r/c)^2) ds, with s = (r/c) cosh q."""
    arrival = r / VELOCITY
    longest = (t[-1] - START) / arrival
    q = np.linspace(0, np.arccosh(max(longest, 1.001)), 4001)
    values = ricker(t[:, None] - arrival * np.cosh(q), FREQUENCY)
    return np.trapezoid(values, q, axis=1) / (2 * np.pi)


def trace_error(dimensions, vti, dtype):
    """Relative L2 error after 5 wavelengths: 10 points per dominant wavelength, order 8, dt a tenth of the limit, so
    that space alone is tested; wide enough across that the sides, which the path grazes, do not answer."""
    flat = dimensions == 2
    spacing = WAVELENGTH / 10
    medium = Medium(
        (66, 1 if flat else 40, 40), spacing, VELOCITY, *((0.0, 0.0) if vti else ()), dtype=dtype, share=0.1
    )
    source = np.array([6.0, 0.0 if flat else 19.4, 19.3]) * spacing
    receiver = source + np.array([50.3, 0.0 if flat else 1.2, 0.9]) * spacing
    distance = np.linalg.norm(receiver - source)
    assert distance >= 5 * WAVELENGTH
    t = times(START, distance / VELOCITY + 1.6 / FREQUENCY, medium.dt)
    trace = medium.run(source, receiver, ricker(t, FREQUENCY))[:, 0]
    wanted = (exact_2d if flat else exact_3d)(t, distance)
    return np.linalg.norm(trace - wanted) / np.linalg.norm(wanted)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("vti", [False, True], ids=["isotropic", "vti-kernel"])
def test_five_wavelengths_within_one_percent(dimensions, vti, dtype):
    if dimensions == 3 and not FULL and (vti or dtype == np.float64):
        pytest.skip("full size only (make verify)")
    assert trace_error(dimensions, vti, dtype) <= 0.01


@pytest.mark.parametrize("axis", [0, 1, 2], ids=["x", "y", "z"])
@pytest.mark.parametrize("vti", [False, True], ids=["isotropic", "vti-kernel"])
def test_every_axis_has_its_own_spacing(vti, axis):
    """Three wavelengths along each axis of a grid whose cells are no cubes, in 3D."""
    spacing = WAVELENGTH / np.array([10.0, 12.0, 11.0])
    shape = [18, 18, 18]
    shape[axis] = 48
    medium = Medium(shape, spacing, VELOCITY, *((0.0, 0.0) if vti else ()), dtype=np.float32, share=0.2)
    source, receiver = np.array([8.2, 8.3, 8.4]) * spacing, np.array([9.1, 8.6, 8.9]) * spacing
    source[axis], receiver[axis] = 6 * spacing[axis], 6 * spacing[axis] + 3 * WAVELENGTH
    distance = np.linalg.norm(receiver - source)
    t = times(START, distance / VELOCITY + 1.6 / FREQUENCY, medium.dt)
    trace = medium.run(source, receiver, ricker(t, FREQUENCY))[:, 0]
    wanted = exact_3d(t, distance)
    assert np.linalg.norm(trace - wanted) <= 0.01 * np.linalg.norm(wanted)


@pytest.mark.parametrize("vti", [False, True], ids=["isotropic", "vti-kernel"])
def test_a_free_surface_adds_the_mirror_image_with_changed_sign(vti):
    """Direct wave less the wave of the source's mirror image; both points lie between cells near the surface."""
    spacing = WAVELENGTH / 10
    medium = Medium((46, 1, 30), spacing, VELOCITY, *((0.0, 0.0) if vti else ()), share=0.1, free_surface=True)
    source, receiver = np.array([6.0, 0.0, 2.3]) * spacing, np.array([38.3, 0.0, 12.6]) * spacing
    mirrored = source * (1, 1, -1)
    far = np.linalg.norm(receiver - mirrored)
    t = times(START, far / VELOCITY + 1.6 / FREQUENCY, medium.dt)
    trace = medium.run(source, receiver, ricker(t, FREQUENCY))[:, 0]
    direct = exact_2d(t, np.linalg.norm(receiver - source))
    wanted = direct - exact_2d(t, far)
    assert np.linalg.norm(trace - wanted) <= 0.01 * np.linalg.norm(direct)


def test_amplitude_is_independent_of_place_between_the_cells():
    """Injection and sampling anywhere in a cell give the same trace to a percent."""
    spacing = WAVELENGTH / 8
    medium = Medium((60, 1, 30), spacing, VELOCITY)
    t = times(START, 0.45, medium.dt)
    offset = np.array([30.0, 0.0, 8.0]) * spacing
    traces = [
        medium.run(place, place + offset, ricker(t, FREQUENCY))[:, 0]
        for place in (np.array([12 + a, 0, 10 + b]) * spacing for a, b in [(0, 0), (0.5, 0.5), (0.2, 0.7)])
    ]
    for trace in traces[1:]:
        assert np.linalg.norm(trace - traces[0]) <= 0.01 * np.linalg.norm(traces[0])
