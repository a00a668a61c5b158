"""Verification 7: flat reflectors at 0.5 to 3 km under gradients and layers image at their depths.

Media vary with depth alone, so the image of one shot at half the offset h from its source is that of all shots at a
common offset of 2 h, and its mean along x is the stack.

**Single reflectors.** The velocity of the migration is exact but for the reflectors. Of each reflector the data are
those of the medium with one step of velocity at its depth, which reaches down to the bottom, less those of the
medium itself: no direct, diving or multiple wave, and above the reflector no other velocity than the migration's. Below
it there are no layers, whose reflections the step would delay.

**Many thin layers**, as well logs have them, whose epsilon and delta go up and down with the velocity. The data are
those of all layers less those of the top layer alone (the direct wave). The image in the exact medium, in one whose
slowness is smoothed and in one whose velocity is smoothed is compared with the reflectivity in depth, by local
correlation; beside it stands what the smoothed model's vertical time explains.

**Layers thin beside the wavelength**, of velocity, epsilon and delta, above a single reflector; migrated in what
`prepare --smooth` makes of them by each of its means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from cli_support import here
from scipy.ndimage import gaussian_filter1d
from scipy.signal import resample
from support import FULL
from survey_support import load, migrate, model

from fathometer.seismic.model import means as averages
from fathometer.seismic.model.synthetic import reflectivity
from fathometer.storage.traces.segy import GatherWriter, read_traces, scan

pytestmark = pytest.mark.verify

STEP = 1.05  # velocity below a reflector over that above
ANGLES = (0.0, 0.25, 0.4, 0.8)  # tangents of angles of incidence along straight rays: half the offset over the depth
STACKED = 0.4  # largest of the stack
FINER = 16  # times as many values along depth, by the Fourier transform, before a parabola through three of them
NEAR = 300.0  # m: of a depth, within which a trace is measured


@dataclass(frozen=True)
class Size:
    """Of the experiment: a spread with its source in the middle."""

    spacing: float  # m
    frequency: float  # Hz, of the Ricker wavelet's peak
    reflectors: tuple[float, ...]  # m; each lies between two cells
    bottom: float  # m
    half: float  # m, half the width of the model
    duration: float  # s


LARGE = Size(10.0, 15.0, (505.0, 1005.0, 1505.0, 2005.0, 2505.0, 3005.0), 3500.0, 2500.0, 3.4)
SMALL = Size(20.0, 8.0, (510.0, 1010.0), 1400.0, 1000.0, 1.5)


def cells(size):
    """Depths of the cells' centres, m."""
    return size.spacing * np.arange(round(size.bottom / size.spacing) + 1)


def gradient(z, epsilon=(0.0, 0.0), delta=(0.0, 0.0)):
    """vp, epsilon and delta (z,), linear in depth; those of epsilon and delta at 0 and at 3 km."""
    linear = [first + (last - first) * z / 3000.0 for first, last in (epsilon, delta)]
    return 1600.0 + 0.6 * z, *linear


def layers(z, deepest=np.inf):
    """Layers of 500 m between the reflectors, with a small gradient; epsilon and delta are high in every second. The
    layer at the depth `deepest` (m) reaches to the bottom."""
    number = np.floor((np.minimum(z, deepest) + 250.0) / 500.0).astype(int)
    return 1700.0 + 250.0 * number + 0.2 * (z - 500.0 * number), 0.05 + 0.2 * (number % 2), 0.02 + 0.08 * (number % 2)


# The medium of a reflector at a depth; at an infinite one: that of the migration.
MEDIA = {
    "isotropic, gradient": lambda z, depth: gradient(z),
    "gradient, epsilon 0.2, delta 0.1": lambda z, depth: gradient(z, (0.2, 0.2), (0.1, 0.1)),
    "gradients of all three": lambda z, depth: gradient(z, (0.0, 0.25), (0.0, 0.12)),
    "VTI layers": layers,
}


def thin_layers(z):
    """Layers of 50 m below 300 m whose velocity varies by 8 % (RMS) about a gradient, epsilon and delta with it."""
    layer = np.maximum(np.floor((z - 5.0) / 50.0).astype(int), 0)
    change = 0.08 * np.random.default_rng(5).standard_normal(layer.max() + 1)[layer]
    vp = (1615.0 + 30.0 * layer) * (1 + change)
    delta = np.clip(0.07 + 0.4 * change, -0.05, 0.2)
    epsilon = np.maximum(np.clip(0.15 + 0.8 * change, 0.0, 0.4), delta + 0.01)
    return tuple(np.where(z < 300.0, top, values) for top, values in zip(TOP, (vp, epsilon, delta), strict=True))


TOP = (1600.0, 0.15, 0.07)  # of the thin layers


def survey(size, medium, folder, name, **acquisition):
    """A survey in the medium (vp, epsilon, delta; each (z,)); its model's files are written."""
    wide = 2 * round(size.half / size.spacing) + 1
    files = {}
    for key, values in zip(("vp", "epsilon", "delta"), medium, strict=True):
        np.save(folder / f"{name}-{key}.npy", np.tile(np.asarray(values, np.float32), (wide, 1)))
        files[key] = f"{name}-{key}.npy"
    return {
        "model": files | {"spacing": [size.spacing] * 2},
        "acquisition": acquisition,
        "wavelet": {"kind": "ricker", "peak_frequency": size.frequency},
        # One dt for all media, so that what they have in common cancels.
        "propagation": {"dt": 0.00011 * size.spacing, "space_weights": "optimised"},
        "output": {"directory": name},
    }


def shot(size, medium, folder):
    """Traces of a shot in the middle: their table and (receivers, samples), float64."""
    d = size.spacing
    receivers = {"x": [0.0, 2 * size.half, 2 * d], "z": 2 * d}
    values = survey(size, medium, folder, "shot", sources={"x": size.half, "z": 2 * d}, receivers=receivers)
    values["propagation"]["duration"] = size.duration
    path = model(folder, values).files["shots"]
    table = scan(path)
    return table, read_traces(path, np.arange(len(table.ffid))).astype(np.float64)


def write(folder, table, traces):
    with GatherWriter(folder / "data.segy", table.samples, table.interval, len(traces)) as writer:
        writer.write(0, 1, table.source[0], table.receiver, traces)


def image_of(size, medium, folder):
    """The Laplacian-filtered image (x, z) of what was written, in a medium."""
    return load(migrate(folder, survey(size, medium, folder, "image", gathers="data.segy")).files["laplacian"])


def means(size, image, depth):
    """Means (z,) of the image along x: the stack up to STACKED at a depth, then around each of ANGLES; NaN beyond the
    spread."""
    tangent = np.abs(size.spacing * np.arange(len(image)) - size.half) / depth
    masks = [tangent <= STACKED, *(np.abs(tangent - angle) <= 0.05 for angle in ANGLES)]
    wide = [0.0, *(angle + 0.05 for angle in ANGLES)]
    covered = [2 * depth * tangent <= size.half for tangent in wide]
    return [
        image[mask].mean(axis=0) if inside else np.full(image.shape[1], np.nan)
        for mask, inside in zip(masks, covered, strict=True)
    ]


def vertex(values, k):
    """Place of the parabola's extremum through three values around k."""
    a, b, c = values[k - 1 : k + 2]
    return k + 0.5 * (a - c) / (a - 2 * b + c)


def finer(size, trace, depth):
    """A trace (z,) at FINER times as many depths, right within NEAR of a depth.

    What lies farther away is tapered first: next to the source an image is a thousand times that of a reflector, and
    between cells the Fourier transform spreads it over all depths.
    """
    apart = np.abs(cells(size) - depth) / NEAR
    return resample(trace * np.cos(0.5 * np.pi * np.clip((apart - 1) / 0.6, 0, 1)) ** 2, FINER * len(trace))


def peak(size, trace, depth):
    """Depth in m of the highest value of a trace (z,) within a third of the longest wavelength around a depth."""
    if np.isnan(trace).any():
        return np.nan
    fine = finer(size, trace, depth)
    z = size.spacing / FINER * np.arange(len(fine))
    near = np.flatnonzero(np.abs(z - depth) <= (1600.0 + 0.6 * depth) / size.frequency / 3)
    return size.spacing / FINER * vertex(fine, int(near[np.argmax(fine[near])]))


def depth_errors(size, name, folder):
    """Errors in m (reflectors, 1 + ANGLES) of single reflectors' depths: in the stack, then at each angle."""
    z, before, total = cells(size), None, 0.0
    for depth in size.reflectors:
        vp, *anisotropy = medium = MEDIA[name](z, depth)
        if before is None or not np.array_equal(medium, before):
            before, (table, without) = medium, shot(size, medium, folder)
        total = total + shot(size, (np.where(z > depth, STEP * vp, vp), *anisotropy), folder)[1] - without
    write(folder, table, total)
    image = image_of(size, MEDIA[name](z, np.inf), folder)
    return np.array([[peak(size, m, depth) - depth for m in means(size, image, depth)] for depth in size.reflectors])


@pytest.mark.parametrize("name", MEDIA if FULL else ["gradients of all three"])
def test_flat_reflectors_image_at_their_depths(tmp_path, name):
    """In the stack, straight below the source and at an angle, at all depths: to a tenth of a cell (a quarter in the
    small case)."""
    size = LARGE if FULL else SMALL
    errors = depth_errors(size, name, tmp_path)
    measured = errors[:, [0, 1 + ANGLES.index(0.0), 1 + ANGLES.index(0.25)]]
    assert np.abs(measured).max() <= (0.1 if FULL else 0.25) * size.spacing, errors


KINDS = {"slowness-squared": -2, "slowness": -1, "velocity": 1}  # and the power of velocity that is smoothed
SMOOTHED = ("exact", *((kind, width) for kind in KINDS for width in (125.0, 250.0)))


def smoothed(size, medium, case):
    """The medium of the migration: exact, or smoothed by a Gaussian of a standard deviation in m; epsilon and delta
    likewise."""
    if case == "exact":
        return medium
    kind, width = case
    power, epsilon, delta = (
        gaussian_filter1d(values, width / size.spacing, mode="nearest")
        for values in (medium[0] ** KINDS[kind], *medium[1:])
    )
    return power ** (1 / KINDS[kind]), epsilon, delta


def lag(size, trace, reference, depth):
    """How much deeper (m) a trace (z,) lies than another one near a depth, by correlation within 250 m around it."""
    if np.isnan(trace).any():
        return np.nan
    trace, reference = (finer(size, values, depth) for values in (trace, reference))
    d = size.spacing / FINER
    window = np.exp(-0.5 * ((d * np.arange(len(trace)) - depth) / 125.0) ** 2)
    lags = np.arange(-round(80.0 / d), round(80.0 / d) + 1)
    sums = [np.sum(window * reference * np.roll(trace, -k)) for k in lags]
    return d * (lags[0] + vertex(sums, int(np.argmax(sums[1:-1])) + 1))


def vertical_shift(size, medium, other, depth):
    """How much deeper (m) a depth lies in another medium at the same vertical time."""
    times = [np.cumsum(size.spacing / vp) - 0.5 * size.spacing / vp for vp in (medium[0], other[0])]
    return np.interp(np.interp(depth, cells(size), times[0]), times[1], cells(size)) - depth


def layer_shifts(size, folder):
    """By case of SMOOTHED (reflectors, 2 + ANGLES): what vertical time explains, then how much deeper than the
    reflectivity the image lies, in m: the stack, and each angle."""
    medium = thin_layers(cells(size))
    table, traces = shot(size, medium, folder)
    write(folder, table, traces - shot(size, [np.full(len(cells(size)), value) for value in TOP], folder)[1])
    expected = reflectivity(medium[0][None], size.spacing, size.frequency)[0].astype(float)
    shifts = {}
    for case in SMOOTHED:
        used = smoothed(size, medium, case)
        image = image_of(size, used, folder)
        shifts[case] = np.array(
            [
                [
                    vertical_shift(size, medium, used, depth),
                    *(lag(size, trace, expected, depth) for trace in means(size, image, depth)),
                ]
                for depth in size.reflectors
            ]
        )
    return shifts


@pytest.mark.skipif(not FULL, reason="make verify")
def test_thin_layers_image_where_the_velocity_of_the_migration_puts_them(tmp_path):
    """In the exact medium at their depths; a smooth slowness keeps them, a smooth velocity moves them down."""
    shifts = layer_shifts(LARGE, tmp_path)
    assert np.abs(shifts["exact"][:, 1]).max() <= 2.0
    assert np.abs(shifts["slowness", 125.0][:, 1]).max() <= 5.0
    deeper = shifts["velocity", 125.0]
    assert deeper[-1, 1] >= 20.0
    np.testing.assert_allclose(deeper[:, 1], deeper[:, 0], atol=6.0)  # as its vertical time says


# --- layers thin beside the wavelength, smoothed by the command

DEEP = Size(15.0, 8.0, (2092.5,), 2595.0, 1320.0, 2.7)
SHALLOW = Size(15.0, 8.0, (1492.5,), 1800.0, 840.0, 1.9)
DEVIATION = 50.0  # m, of the Gaussian


def thinner_layers(size, seed):
    """vp, epsilon and delta (z,) of layers of 15 to 60 m from 300 m to 200 m above the reflector, 10 % (RMS) about a
    gradient, epsilon and delta of their own."""
    z, (depth,) = cells(size), size.reflectors
    rng = np.random.default_rng(seed)
    thickness = size.spacing * rng.integers(1, round(60.0 / size.spacing) + 1, len(z))
    layer = np.searchsorted(300.0 + np.cumsum(thickness), z - 0.5 * size.spacing, side="right")
    inside = (layer > 0) & (z < depth - 200.0)
    change = 0.1 * np.clip(rng.standard_normal(len(z)), -2, 2)[layer]
    delta, more = rng.uniform(-0.05, 0.15, len(z))[layer], rng.uniform(0.0, 0.2, len(z))[layer]
    vp = (2600.0 + 0.6 * np.minimum(z, depth - 200.0)) * np.exp(np.where(inside, change, 0.0))
    return vp, np.where(inside, delta + more, 0.15), np.where(inside, delta, 0.05)


def prepared(size, medium, mean, folder):
    """What the command makes of vp, epsilon and delta (z,), smoothed by DEVIATION along z."""
    for name, values in zip(("vp", "epsilon", "delta"), medium, strict=True):
        np.save(folder / f"{name}.npy", np.tile(np.asarray(values, np.float32), (3, 1)))
    parameters = ("--epsilon", folder / "epsilon.npy", "--delta", folder / "delta.npy")
    words = ("--smooth", f"0,{DEVIATION}", "--mean", mean, "--input-spacing", size.spacing)
    done = here("prepare", folder / "vp.npy", *words, *parameters, "-o", folder / "smooth.npy")
    assert done.code == 0, done.err
    return [np.load(folder / f"smooth{name}.npy")[0] for name in ("", "-epsilon", "-delta")]


def smoothed_errors(size, seed, folder, kinds):
    """Errors in m of the reflector's depth in the stack, by "exact" or mean."""
    (depth,) = size.reflectors
    vp, *anisotropy = medium = thinner_layers(size, seed)
    table, below = shot(size, (np.where(cells(size) > depth, STEP * vp, vp), *anisotropy), folder)
    write(folder, table, below - shot(size, medium, folder)[1])
    errors = {}
    for kind in kinds:
        image = image_of(size, medium if kind == "exact" else prepared(size, medium, kind, folder), folder)
        errors[kind] = peak(size, means(size, image, depth)[0], depth) - depth
    return errors


@pytest.mark.parametrize("seed", range(3 if FULL else 1))
def test_a_reflector_below_thin_layers_keeps_its_depth_in_what_prepare_makes_of_them(tmp_path, seed):
    """To a quarter of a cell by squared slowness; by slowness it lies deeper, by velocity most of a cell or more. The
    wavelength is ten of the layers."""
    size = DEEP if FULL else SHALLOW
    errors = smoothed_errors(size, seed, tmp_path, averages.MEANS)
    assert abs(errors["slowness-squared"]) <= 0.25 * size.spacing, errors
    assert errors["slowness"] >= 0.25 * size.spacing, errors
    assert errors["velocity"] >= 0.7 * size.spacing, errors
