"""Amplitudes of time migration where traces lie sparsely, irregularly or with gaps: a plane keeps R inside."""

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


def record(folder, shots, spread, silent=()):
    """Shots (x,) on a line, with receivers (k,) about each: the plane's traces R w(t - τ) / r, some of them zeros."""
    times = INTERVAL * np.arange(300)
    every = np.arange(len(shots) * len(spread)).reshape(len(shots), len(spread))
    with GatherWriter(folder / "recorded.segy", 300, INTERVAL, every.size) as writer:
        for number, x in enumerate(shots):
            way = np.hypot(VELOCITY * T0, spread)[:, None]
            traces = REFLECTION * ricker(times - way / VELOCITY, 20.0) / way
            traces[np.isin(every[number], silent)] = 0
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


def test_midpoints_that_are_sparser_than_places(tmp_path):
    """Within 3 % at places 12.5 m apart, with a note."""
    record(tmp_path, *regular())
    found, said = amplitudes(tmp_path, [-300.0, 300.0, 12.5])
    np.testing.assert_allclose(found, 1.0, atol=0.03)
    assert any(
        "midpoints are farther apart than the places of the image: 50 m along x (places: 12.5 m)" in s for s in said
    )


@pytest.mark.parametrize("bins", [False, True])
def test_irregular_shots(tmp_path, bins):
    """Shots at random places, two of them twice: within 10 %."""
    source = np.random.default_rng(9)
    shots = np.sort(source.uniform(-HALF, HALF, 160))
    record(tmp_path, np.concatenate([shots, shots[60:62]]), np.arange(-600.0, 601.0, 50.0))
    keys = {"imaging.gathers": "offset", "imaging.offset_bins": [0.0, 200.0, 400.0, 700.0]} if bins else {}
    found, _ = amplitudes(tmp_path, [-300.0, 300.0, 12.5], **keys)
    np.testing.assert_allclose(found, 1.0, atol=0.1)


def test_shots_that_are_denser_on_one_side(tmp_path):
    """Four times as many shots on the right: the image is as strong on both sides."""
    shots = np.concatenate([np.arange(-HALF, 0, 50.0), np.arange(0, HALF, 12.5)])
    record(tmp_path, shots, np.arange(-600.0, 601.0, 50.0))
    found, _ = amplitudes(tmp_path, [-400.0, 400.0, 25.0])
    np.testing.assert_allclose(found, 1.0, atol=0.1)


def test_a_gap_of_shots(tmp_path):
    """300 m without a shot, which receivers on both sides look under: within 10 %."""
    shots = np.arange(-HALF, HALF + 1, 25.0)
    record(tmp_path, shots[np.abs(shots) > 150], np.arange(-600.0, 601.0, 25.0))
    found, _ = amplitudes(tmp_path, [-400.0, 400.0, 25.0])
    np.testing.assert_allclose(found, 1.0, atol=0.1)


def test_silent_traces_stand_for_nothing(tmp_path):
    """A quarter of the traces are zeros, at random: those beside them stand for their places."""
    shots, spread = np.arange(-HALF, HALF + 1, 25.0), np.arange(-600.0, 601.0, 25.0)
    count = len(shots) * len(spread)
    silent = np.random.default_rng(10).choice(count, count // 4, replace=False)
    record(tmp_path, shots, spread, silent)
    found, _ = amplitudes(tmp_path, [-300.0, 300.0, 25.0])
    np.testing.assert_allclose(found, 1.0, atol=0.03)


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


@pytest.mark.parametrize(("left", "offset"), [(25.0, 200.0), (50.0, 0.0)])
def test_irregular_midpoints_in_space(tmp_path, left, offset):
    """Within 10 %, also where one side has four times as many traces as the other."""
    patch(tmp_path, left, offset)
    keys = {
        "time_migration.x": [-200.0, 200.0, 100.0],
        "time_migration.y": [-50.0, 50.0, 50.0],
        "time_migration.alias_spacing": [50.0],
        "time_migration.aperture": 600.0,
        "time_migration.start": 0.2,
        "time_migration.end": 0.6,
    }
    run(survey(tmp_path, LINE | keys))
    image = load(tmp_path / "out" / "time" / "image.rsf").reshape(15, -1)
    np.testing.assert_allclose([peak(column)[1] / REFLECTION for column in image], 1.0, atol=0.1)


def test_places_follow_the_midpoints(tmp_path):
    """Of a model with cells of 12.5 m: those where midpoints lie, 50 m apart, with a note."""
    record(tmp_path, *regular())
    np.save(tmp_path / "vp.npy", np.full((201, 60), VELOCITY, np.float32))
    keys = {"model.vp": "vp.npy", "model.spacing": [12.5, 12.5], "model.origin": [-1237.5, 0.0]}
    found, said = amplitudes(tmp_path, None, **keys | {"time_migration.velocity": None})
    grid = volume_grid(tmp_path)
    assert grid == (50, 50.0, -1200.0)
    np.testing.assert_allclose(found[16:-17], 1.0, atol=0.03)
    assert any("places of the image are as far apart as midpoints, 50 m along x" in text for text in said)


def volume_grid(folder):
    """Places along x of the image: number, spacing and the first."""
    with open_volume("image.rsf", folder / "out" / "time") as volume:
        info = volume.info
    return info.shape[0], info.spacing[0], info.origin[0]
