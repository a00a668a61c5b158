"""Verification 7: a source-normalised image is R c / (2 A cos theta) at a reflector, whatever the cells.

Traces are analytic: those of the source mirrored in the reflector, times its coefficient. What an image must be is
summed over the very receivers, by Green's functions, so the end of a spread is in it; where the spread goes on far
enough that is R c / (2 A cos theta).
"""

import numpy as np
import pytest
from scipy.special import hankel2
from support import ricker
from survey_support import load, migrate

from fathometer.storage.traces.segy import GatherWriter

pytestmark = pytest.mark.verify

VELOCITY, COEFFICIENT = 2000.0, 0.1  # m/s; of the reflector, at all angles
TOP = 50.0  # m, depth of sources and receivers
INTERVAL = 0.004  # s


def line_wave(t, distance, frequency):
    """1/(2 pi) int f(t - r/c cosh q) dq of a line source with a Ricker wavelet f."""
    q = np.linspace(0.0, 3.0, 1501)
    return np.trapezoid(ricker(t[:, None] - distance / VELOCITY * np.cosh(q), frequency), q, axis=1) / (2 * np.pi)


def point_wave(t, distance, frequency):
    return ricker(t - distance / VELOCITY, frequency) / (4 * np.pi * distance)


class Experiment:
    """Shots over a flat reflector in a homogeneous model.

    sources, receivers: (n, 2), x and y in m, at the depth TOP. depth: of the reflector, m. frequency: of the wavelet's
    peak, Hz. area: that a receiver stands for, m^2; in two dimensions its distance, m. width: of the model, m.
    """

    def __init__(self, sources, receivers, depth, frequency, area, width):
        self.sources, self.receivers, self.depth, self.frequency = sources, receivers, depth, frequency
        self.area, self.width, self.line = area, width, np.ptp(receivers[:, 1]) == 0

    def write(self, path):
        down = 2 * (self.depth - TOP)
        longest = np.hypot(np.hypot(*np.ptp(np.concatenate([self.sources, self.receivers]), axis=0)), down)
        times = INTERVAL * np.arange(round((longest / VELOCITY + 2.5 / self.frequency) / INTERVAL))
        wave = line_wave if self.line else point_wave
        count = len(self.receivers)
        with GatherWriter(path, len(times), INTERVAL, len(self.sources) * count) as writer:
            for n, source in enumerate(self.sources):
                distances = np.hypot(np.hypot(*(self.receivers - source).T), down).round(6)
                different, which = np.unique(distances, return_inverse=True)
                traces = COEFFICIENT * np.array([wave(times, one, self.frequency) for one in different])[which]
                places = np.column_stack([self.receivers, np.full(count, TOP)])
                writer.write(n * count, n + 1, (*source, TOP), places, traces)

    def migrated(self, folder, spacing, **sections):
        """The image at the reflector's depth, in cells of `spacing` (m) that lie there, (nx,) or (nx, ny)."""
        self.write(folder / "data.segy")
        wide = round(self.width / spacing) + 1
        shape = (wide, *(() if self.line else (wide,)), round((self.depth + 150.0) / spacing) + 1)
        np.save(folder / "vp.npy", np.full(shape, VELOCITY, np.float32))
        values = {
            "model": {"vp": "vp.npy", "spacing": [spacing] * len(shape)},
            "acquisition": {"gathers": "data.segy"},
            "wavelet": {"kind": "ricker", "peak_frequency": self.frequency},
            "imaging": {"condition": "source-normalised", "laplacian": False},
            "output": {"directory": "image"},
            **sections,
        }
        return load(migrate(folder, values).files["image"])[..., round(self.depth / spacing)]

    def summed(self, place):
        """The same at a place (x, y in m), from Green's functions: of the source, of its image in the reflector, and
        of each receiver, which injects -d/dt of its trace backwards in time."""
        omega = 2 * np.pi * np.arange(0.5, 3.2 * self.frequency, 0.25)
        power = ricker_spectrum(omega, self.frequency) ** 2

        def green(distance):
            phase = omega / VELOCITY * np.asarray(distance)[..., None]
            if self.line:
                return -0.25j * hankel2(0, phase)
            return np.exp(-1j * phase) / (4 * np.pi * np.asarray(distance)[..., None])

        down, image, energy = self.depth - TOP, 0.0, 0.0
        from_receivers = green(np.hypot(np.hypot(*(self.receivers - place).T), down))
        for source in self.sources:
            arriving = green(np.hypot(np.hypot(*(place - source)), down))
            recorded = COEFFICIENT * green(np.hypot(np.hypot(*(self.receivers - source).T), 2 * down))
            back = -1j * omega * (recorded * from_receivers.conj()).sum(axis=0)
            image += (power * (back * arriving.conj()).real).sum()
            energy += (power * np.abs(arriving) ** 2).sum()
        return image / energy

    def coefficient(self, place):
        """R c / (2 A cos theta) below a place, the mean over the shots."""
        away = np.hypot(*(self.sources - place).T)
        cosine = (self.depth - TOP) / np.hypot(away, self.depth - TOP)
        return COEFFICIENT * VELOCITY / (2 * self.area) * np.mean(1 / cosine)


def ricker_spectrum(omega, frequency):
    square = (omega / (2 * np.pi * frequency)) ** 2
    return square * np.exp(-square)


def line(shots=1, half=900.0, depth=500.0, frequency=15.0):
    """Receivers 20 m apart to either side (m) of shots 50 m apart."""
    x = np.arange(0.0, 2 * half + 1.0, 20.0)
    sources = half + 50.0 * (np.arange(shots) - shots // 2)
    return Experiment(on_line(sources), on_line(x), depth, frequency, 20.0, 2 * half)


def on_line(x):
    return np.column_stack([x, np.zeros(len(x))])


def square(shots=1, half=600.0, depth=400.0, frequency=10.0):
    """Receivers 50 m apart in a square of 2 half (m), shots 100 m apart in its middle."""
    x = np.arange(0.0, 2 * half + 1.0, 50.0)
    receivers = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    sources = np.array([[half + 100.0 * (n - shots // 2), half] for n in range(shots)])
    return Experiment(sources, receivers, depth, frequency, 50.0**2, 2 * half)


def shares(folder, survey, spacing):
    """Below the middle of a spread the image over the sum over receivers, then over R c / (2 A)."""
    half = 0.5 * survey.width
    place = (half, 0.0) if survey.line else (half, half)
    cell = round(half / spacing)
    found = survey.migrated(folder, spacing)[cell if survey.line else (cell, cell)]
    return found / survey.summed(place), found / survey.coefficient(place)


@pytest.mark.parametrize("spacing", [20.0, 10.0, 5.0])
@pytest.mark.parametrize("shots", [1, 5])
def test_lines_give_the_coefficient_in_any_cells(tmp_path, spacing, shots):
    """Of the sum over receivers 1 %, of R c / (2 A) 5 %; 20 m are 2.7 cells in the shortest wavelength."""
    over_sum, over_coefficient = shares(tmp_path, line(shots), spacing)
    assert over_sum == pytest.approx(1.0, abs=0.01)
    assert over_coefficient == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(("spacing", "shots"), [(25.0, 1), (25.0, 3), (12.5, 1)])
def test_volumes_give_the_coefficient_in_any_cells(tmp_path, spacing, shots):
    """Of the sum over receivers 2 %; 600 m to either side are too few for R c / (2 A)."""
    over_sum, _ = shares(tmp_path, square(shots), spacing)
    assert over_sum == pytest.approx(1.0, abs=0.02)


WIDE = {"half": 3000.0, "depth": 650.0, "frequency": 18.0}  # far beyond the reflected rays of ANGLES
ANGLES = (0.0, 15.0, 25.0, 35.0)  # degrees


def shares_at_angles(folder):
    """At each of ANGLES the image over the sum over receivers, then over R c / (2 A cos theta), (angles, 2)."""
    survey, spacing = line(**WIDE), 10.0
    image = survey.migrated(folder, spacing)
    shares = []
    for angle in ANGLES:
        cell = round((survey.sources[0, 0] + (survey.depth - TOP) * np.tan(np.radians(angle))) / spacing)
        place = (cell * spacing, 0.0)
        shares.append([image[cell] / survey.summed(place), image[cell] / survey.coefficient(place)])
    return np.array(shares)


def test_lines_give_the_coefficient_at_angles(tmp_path):
    shares = shares_at_angles(tmp_path)
    np.testing.assert_allclose(shares[:, 0], 1.0, atol=0.01)
    np.testing.assert_allclose(shares[:, 1], 1.0, atol=0.05)
