"""Images of time migration against traces whose formulas are known: diffractors, plane reflectors, impulses."""

import numpy as np
import pytest
from kirchhoff_support import Experiment, legs, pairs, peak
from scipy.signal import hilbert
from support import ricker

from fathometer.seismic.kirchhoff.operator import segments

VELOCITY, FREQUENCY, INTERVAL = 2000.0, 20.0, 0.004


def pulses(samples, arrivals, two_dimensional):
    """Traces (n, samples) of a body so small that it diffracts: a Ricker wavelet, differentiated once (3D) or by half
    (2D), which is what Kirchhoff's integral over a reflector says of a piece of it; by the spectrum."""
    wide = 4 * samples
    omega = 2 * np.pi * np.fft.rfftfreq(wide, INTERVAL)
    wavelet = np.fft.rfft(ricker(INTERVAL * np.arange(wide) - wide // 2 * INTERVAL, FREQUENCY))
    delays = np.exp(-1j * omega * (np.asarray(arrivals)[:, None] - wide // 2 * INTERVAL))
    change = np.sqrt(1j * omega) if two_dimensional else 1j * omega
    return np.fft.irfft(wavelet * change * delays, wide)[:, :samples]


def half_integral(times, delay):
    """Of a Ricker wavelet about `delay`, s^½: (iω)^-½ of its spectrum, by quadrature."""
    middle = 2 * np.pi * FREQUENCY
    omega = np.linspace(0, 8 * middle, 8001)[1:]
    parts = 4 * np.sqrt(np.pi) * omega**1.5 / middle**3 * np.exp(-((omega / middle) ** 2))
    late = times[:, None] - delay
    return np.trapezoid(parts * np.cos(omega * late - np.pi / 4), omega, axis=1) / np.pi


def focus(image):
    """Indices of the largest value of an image (nx, ny, nt), each by a parabola along its axis."""
    at = np.unravel_index(int(np.argmax(image)), image.shape)
    found = []
    for axis, size in enumerate(image.shape):
        line = image[tuple(slice(None) if a == axis else at[a] for a in range(3))]
        found.append(0.0 if size == 1 else peak(line)[0])
    return found


def diffractor_errors(dimensions, offset):
    """(bins along x, bins along y, samples) by which the image of a point that lies between bins and samples misses."""
    flat = dimensions == 2
    place, t0 = (203.0, 0.0 if flat else 97.0), 0.6017
    spacing = (12.5, 1.0 if flat else 12.5, INTERVAL)
    origin = (162.5, 0.0 if flat else 62.5, 0.5)
    case = Experiment((7, 1 if flat else 7, 60), spacing, origin, VELOCITY, None, INTERVAL, 300, {})
    middles = np.arange(-1000, 1401, 12.5) if flat else np.arange(-400, 801, 25.0)
    places = pairs(middles, np.zeros(1) if flat else middles, offset)
    source, receiver = legs(places, (*place, VELOCITY * t0 / 2))
    spread = np.sqrt(source * receiver * (source + receiver)) if flat else source * receiver
    traces = pulses(case.samples, (source + receiver) / VELOCITY, flat) / spread[:, None]
    found = np.array(focus(case.image(traces, places)[0])) * spacing + origin
    wanted = np.array([*place, t0])
    return tuple(((found - wanted) / spacing)[[0, 2] if flat else slice(None)].tolist())


@pytest.mark.parametrize("offset", [0.0, 600.0])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_diffractor_is_focused(dimensions, offset):
    """Within half a bin and half a sample."""
    assert max(map(abs, diffractor_errors(dimensions, offset))) < 0.5


T0, REFLECTION = 1.0, 0.3
OFFSETS = (0.0, 500.0, 1000.0, 2000.0)


def reflector(dimensions, offset, line_sources=False):
    """Time, s, amplitude over the reflection coefficient and phase, degrees, with which a plane at T0 is imaged from
    traces of an offset, R w(t - τ) / r; those of line sources are the half integral times √(2π c r)."""
    flat = dimensions == 2
    step = 12.5 if flat else 50.0
    shape, spacing = (1, 1 if flat else 2, 100), (step, 1.0 if flat else step, INTERVAL)
    keys = {"dip": 80.0, "aperture": 2400.0 if flat else 1800.0, "sources": "line" if line_sources else "point"}
    case = Experiment(shape, spacing, (0.0, 0.0, T0 - 0.2), VELOCITY, None, INTERVAL, 500, keys)
    middles = np.arange(-2400 if flat else -1800, 2401 if flat else 1801, step)
    places = pairs(middles, np.zeros(1) if flat else middles, offset)
    path = np.hypot(VELOCITY * T0, offset)
    if line_sources:
        trace = REFLECTION * half_integral(case.times, path / VELOCITY) * np.sqrt(2 * np.pi * VELOCITY / path)
    else:
        trace = REFLECTION * ricker(case.times - path / VELOCITY, FREQUENCY) / path
    area = step if flat else step**2
    image = area * case.image_of_fine(case.series(trace[None]), places)[0, 0, 0]
    at, height = peak(image)
    analytic = hilbert(image)
    phase = np.degrees(np.angle(analytic[np.abs(analytic).argmax()]))
    return case.origin[2] + at * INTERVAL, height / REFLECTION, phase


@pytest.mark.parametrize("line_sources", [False, True])
def test_a_plane_reflector_in_2d(line_sources):
    """To half a millisecond, 1 % and 5 degrees: of line sources too, whose waves lag by an eighth of a period."""
    found = [reflector(2, offset, line_sources) for offset in OFFSETS]
    for time, amplitude, phase in found:
        assert abs(time - T0) < 0.0005
        assert abs(amplitude - 1) < 0.01
        assert abs(phase) < 5


@pytest.mark.parametrize("offset", OFFSETS)
def test_a_plane_reflector_in_3d(offset):
    time, amplitude, _ = reflector(3, offset)
    assert abs(time - T0) < INTERVAL / 2
    assert abs(amplitude - 1) < 0.05


def dipping(offset, anti_alias, degrees=30.0):
    """Bins by which a plane reflector that dips is misplaced, and its amplitudes over the reflection coefficient."""
    tangent, step, below = np.tan(np.radians(degrees)), 12.5, 1000.0  # depth at x = 0, m
    keys = {"dip": 80.0, "anti_alias": anti_alias}
    case = Experiment((5, 1, 90), (step, 1.0, INTERVAL), (0.0, 0.0, 0.85), VELOCITY, None, INTERVAL, 700, keys)
    places = pairs(np.arange(-2500, 2501, step), np.zeros(1), offset)
    # The source's mirror image in the plane z = below + x tangent.
    normal = np.array([-tangent, 1.0]) / np.hypot(tangent, 1)
    height = (0 - below - places[:, 0] * tangent) / np.hypot(tangent, 1)
    mirror = np.column_stack([places[:, 0], np.zeros(len(places))]) - 2 * height[:, None] * normal
    path = np.hypot(places[:, 2] - mirror[:, 0], mirror[:, 1])
    real = (below + places[:, [0, 2]] * tangent > 0).all(axis=1)  # both above the plane
    traces = REFLECTION * ricker(case.times - path[:, None] / VELOCITY, FREQUENCY) / path[:, None]
    images = step * case.image(traces[real], places[real])[0, :, 0]
    found = [peak(column) for column in images]
    depths = (case.origin[2] + INTERVAL * np.array([at for at, _ in found])) * VELOCITY / 2
    x = step * np.arange(len(found))
    bins = (depths - (below + x * tangent)) / tangent / step
    return float(np.abs(bins).max()), [height / REFLECTION for _, height in found]


@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_a_dip_of_30_degrees(offset):
    """Position within half a bin, amplitude that of a plane without dip; the anti-alias filter smooths it."""
    bins, amplitudes = dipping(offset, "none")
    assert bins < 0.5
    np.testing.assert_allclose(amplitudes, 1.0, rtol=0.05)
    bins, amplitudes = dipping(offset, "triangle")
    assert bins < 0.5
    assert 0.9 < min(amplitudes) < max(amplitudes) < 0.95  # a triangle over 12.5 ms of a wavelet of 20 Hz


def impulse_errors(dimensions, keys=None):
    """Samples by which the image of one pulse in one trace misses its ellipsoid, at all columns where its dip is below
    60 degrees."""
    offset, arrival = 800.0, 1.2
    flat = dimensions == 2
    shape = (41, 1, 300) if flat else (21, 15, 300)
    spacing = (25.0, 1.0, INTERVAL) if flat else (50.0, 50.0, INTERVAL)
    case = Experiment(shape, spacing, (-500.0, 0.0 if flat else -350.0, 0.1), VELOCITY, None, INTERVAL, 500, keys or {})
    places = pairs(np.zeros(1), np.zeros(1), offset)
    image = case.image(pulses(case.samples, [arrival], flat), places)[0]
    half = VELOCITY * arrival / 2
    short2 = half**2 - (offset / 2) ** 2
    errors = []
    for i, j in np.ndindex(shape[:2]):
        x, y = case.origin[0] + i * spacing[0], case.origin[1] + j * spacing[1]
        depth = np.sqrt(short2 * (1 - (x / half) ** 2) - y**2)
        gradient = np.hypot(short2 * x / half**2, y) / depth
        if gradient < np.tan(np.radians(60)) * 0.85:  # where the taper of the dip does not tilt the pulse
            at = peak(image[i, j])[0] * INTERVAL + case.origin[2]
            errors.append((at - 2 * depth / VELOCITY) / INTERVAL)
    return np.array(errors)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_one_trace_is_imaged_on_its_ellipsoid(dimensions):
    """Within a sample."""
    errors = impulse_errors(dimensions)
    assert len(errors) > (30 if dimensions == 2 else 200)
    assert np.abs(errors).max() < 1


def test_what_is_demigrated_comes_back():
    """A spike: its traces' image is largest where it is."""
    case = Experiment((15, 1, 120), (12.5, 1.0, INTERVAL), (0.0, 0.0, 0.3), VELOCITY, None, INTERVAL, 400, {})
    places = np.concatenate([pairs(np.arange(-600, 801, 12.5), np.zeros(1), offset) for offset in (0.0, 400.0)])
    model = np.zeros(case.shape, np.float32)
    model[6, 0, 70] = 1.0
    image = case.image(case.demigrated(model, places), places)[0]
    assert np.unravel_index(int(np.argmax(image)), image.shape) == (6, 0, 70)
    assert np.sort(np.abs(image[:, 0].max(axis=1)))[-2] < 0.9 * image.max()


def test_a_time_that_is_added_is_that_of_the_operator():
    """A trace whose clock is late by it gives the same image."""
    case = Experiment((3, 1, 60), (25.0, 1.0, INTERVAL), (0.0, 0.0, 0.5), VELOCITY, None, INTERVAL, 300, {})
    place, late = pairs([10.0], [0.0], 300.0), 10 * INTERVAL
    images = []
    for added in (0.0, late):
        fine = case.series(ricker(case.times - 0.7 - added, FREQUENCY)[None])
        image = np.zeros((1, 3, 1, segments(60)), np.float32)
        case.operator.migrate(fine, np.column_stack([place, [added]]), np.zeros(1, np.int32), image)
        images.append(image)
    np.testing.assert_allclose(*images, atol=1e-4 * np.abs(images[0]).max())
