"""Amplitudes of time migration where traces lie sparsely, irregularly or with gaps: a plane keeps R inside."""

from functools import partial

import numpy as np
import pytest
from cli_support import survey
from kirchhoff_support import peak
from support import ricker
from survey_support import load
from time_survey_support import INTERVAL, LINE, REFLECTION, T0, VELOCITY, run

from fathometer.storage.traces.segy import GatherWriter
from fathometer.storage.volumes.volume import open_volume

HALF = 2000.0  # m, half the length of the line
WINDOW = {"time_migration.aperture": 1200.0, "time_migration.start": 0.4, "time_migration.end": 0.8}


def record(folder, shots, spread, silent=(), noise=0.0):
    """Shots (x,) on a line, with receivers (k,) about each: the plane's traces R w(t - τ) / r, some of them zeros or
    noise."""
    times = INTERVAL * np.arange(300)
    every = np.arange(len(shots) * len(spread)).reshape(len(shots), len(spread))
    with GatherWriter(folder / "recorded.segy", 300, INTERVAL, every.size) as writer:
        for number, x in enumerate(shots):
            way = np.hypot(VELOCITY * T0, spread)[:, None]
            traces = REFLECTION * ricker(times - way / VELOCITY, 20.0) / way
            still = np.isin(every[number], silent)
            traces[still] = noise * np.random.default_rng(number).standard_normal((still.sum(), len(times)))
            places = np.column_stack([x + spread, np.zeros(len(spread)), np.zeros(len(spread))])
            writer.write(every[number, 0], number + 1, (x, 0.0, 0.0), places, traces)


def regular():
    """Shots 100 m apart, as receivers are, so that midpoints are 50 m apart."""
    return np.arange(-HALF, HALF + 1, 100.0), np.arange(-600.0, 601.0, 100.0)


def amplitudes(folder, x, **keys):
    """(columns,) over R."""
    _, said = run(survey(folder, LINE | {"time_migration.x": x} | WINDOW | keys))
    image = load(folder / "out" / "time" / "image.rsf")
    return np.array([peak(column)[1] for column in image]) / REFLECTION, said


def sparse(folder):
    record(folder, *regular())
    return amplitudes(folder, [-300.0, 300.0, 12.5])


def irregular(folder, bins=False):
    """Shots at random places, two of them twice."""
    shots = np.sort(np.random.default_rng(9).uniform(-HALF, HALF, 160))
    record(folder, np.concatenate([shots, shots[60:62]]), np.arange(-600.0, 601.0, 50.0))
    keys = {"imaging.gathers": "offset", "imaging.offset_bins": [0.0, 200.0, 400.0, 700.0]} if bins else {}
    return amplitudes(folder, [-300.0, 300.0, 12.5], **keys)


def denser(folder):
    """Four times as many shots on the right."""
    shots = np.concatenate([np.arange(-HALF, 0, 50.0), np.arange(0, HALF, 12.5)])
    record(folder, shots, np.arange(-600.0, 601.0, 50.0))
    return amplitudes(folder, [-400.0, 400.0, 25.0])


def gap(folder):
    """300 m without a shot, which receivers on both sides look under."""
    shots = np.arange(-HALF, HALF + 1, 25.0)
    record(folder, shots[np.abs(shots) > 150], np.arange(-600.0, 601.0, 25.0))
    return amplitudes(folder, [-400.0, 400.0, 25.0])


def silent(folder):
    """A quarter of the traces are zeros, at random."""
    shots, spread = np.arange(-HALF, HALF + 1, 25.0), np.arange(-600.0, 601.0, 25.0)
    count = len(shots) * len(spread)
    record(folder, shots, spread, np.random.default_rng(10).choice(count, count // 4, replace=False))
    return amplitudes(folder, [-300.0, 300.0, 25.0])


def dead(folder):
    """A quarter of the traces hold noise alone, which `dead_below` finds."""
    shots, spread = np.arange(-HALF, HALF + 1, 25.0), np.arange(-600.0, 601.0, 25.0)
    count = len(shots) * len(spread)
    noisy = np.random.default_rng(10).choice(count, count // 4, replace=False)
    record(folder, shots, spread, noisy, noise=1e-9)
    return amplitudes(folder, [-300.0, 300.0, 25.0], **{"acquisition.conditioning": {"dead_below": 0.01}})


def split(folder):
    """One shot with receivers on both sides."""
    record(folder, np.zeros(1), np.arange(-1275.0, 1276.0, 51.0))
    return amplitudes(folder, [-300.0, 300.0, 25.0])


def apart(folder):
    """Three shots 400 m apart, with receivers on both sides."""
    record(folder, np.array([-400.0, 0.0, 400.0]), np.arange(-1275.0, 1276.0, 50.0))
    return amplitudes(folder, [-300.0, 300.0, 25.0])


CASES = {
    "midpoints 50 m apart, places 12.5 m": (sparse, 0.03),
    "irregular shots, some twice": (irregular, 0.1),
    "irregular shots, three bins": (partial(irregular, bins=True), 0.1),
    "shots four times as dense on one side": (denser, 0.1),
    "a gap of 300 m of shots": (gap, 0.1),
    "a quarter of the traces zeros": (silent, 0.03),
    "a quarter of the traces dead": (dead, 0.03),
    "one split-spread shot": (split, 0.1),
    "three split-spread shots 400 m apart": (apart, 0.12),
}


@pytest.mark.parametrize("name", CASES)
def test_a_plane_keeps_its_coefficient(tmp_path, name):
    """Inside the survey, within 3 to 12 %."""
    case, allowed = CASES[name]
    found, said = case(tmp_path)
    np.testing.assert_allclose(found, 1.0, atol=allowed)
    finer = any("midpoints are farther apart than the places of the image: 50 m along x" in text for text in said)
    assert finer == (case is sparse)


def patch(folder, left, offset):
    """No offset and `offset` m in all directions, in turns, at midpoints of a square, 25 m apart (`left` m in its left
    half), each up to 8 m off its place."""
    source, times = np.random.default_rng(11), INTERVAL * np.arange(260)
    grids = [
        np.meshgrid(np.arange(a, b, step), np.arange(-800, 800, step)) for a, b, step in ((-800, 0, left), (0, 800, 25))
    ]
    middles = np.concatenate([np.column_stack([one.ravel() for one in grid]) for grid in grids])
    middles = middles + source.uniform(-8, 8, middles.shape)
    angles = source.uniform(0, 2 * np.pi, len(middles))
    half = 0.5 * offset * np.column_stack([np.cos(angles), np.sin(angles)]) * (np.arange(len(middles)) % 2)[:, None]
    with GatherWriter(folder / "recorded.segy", len(times), INTERVAL, len(middles)) as writer:
        for number, (middle, apart) in enumerate(zip(middles, half, strict=True)):
            way = np.hypot(VELOCITY * 0.4, 2 * np.hypot(*apart))
            trace = REFLECTION * ricker(times - way / VELOCITY, 20.0)[None] / way
            source_at, receiver = np.append(middle - apart, 0.0), np.append(middle + apart, 0.0)[None]
            writer.write(number, number + 1, source_at, receiver, trace)


PATCHES = ((25.0, 200.0), (50.0, 0.0))


def in_space(folder, left, offset):
    """(15,) amplitudes over R of a patch."""
    patch(folder, left, offset)
    keys = {
        "time_migration.x": [-200.0, 200.0, 100.0],
        "time_migration.y": [-50.0, 50.0, 50.0],
        "time_migration.alias_spacing": [50.0],
        "time_migration.aperture": 600.0,
        "time_migration.start": 0.2,
        "time_migration.end": 0.6,
    }
    run(survey(folder, LINE | keys))
    image = load(folder / "out" / "time" / "image.rsf").reshape(15, -1)
    return np.array([peak(column)[1] / REFLECTION for column in image])


@pytest.mark.parametrize(("left", "offset"), PATCHES)
def test_irregular_midpoints_in_space(tmp_path, left, offset):
    """Within 10 %, also where one side has four times as many traces as the other."""
    np.testing.assert_allclose(in_space(tmp_path, left, offset), 1.0, atol=0.1)


def test_places_follow_the_midpoints(tmp_path):
    """Of a model with cells of 12.5 m: those where midpoints lie, 50 m apart, with a note."""
    record(tmp_path, *regular())
    np.save(tmp_path / "vp.npy", np.full((201, 60), VELOCITY, np.float32))
    keys = {"model.vp": "vp.npy", "model.spacing": [12.5, 12.5], "model.origin": [-1237.5, 0.0]}
    found, said = amplitudes(tmp_path, None, **keys | {"time_migration.velocity": None})
    grid = volume_grid(tmp_path)
    assert grid == (50, 50.0, -1200.0)
    np.testing.assert_allclose(found[16:-17], 1.0, atol=0.03)
    assert any("places of the image are about as far apart as midpoints, 50 m along x" in text for text in said)


def volume_grid(folder):
    """Places along x of the image: number, spacing and the first."""
    with open_volume("image.rsf", folder / "out" / "time") as volume:
        info = volume.info
    return info.shape[0], info.spacing[0], info.origin[0]
