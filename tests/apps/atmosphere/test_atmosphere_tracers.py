"""Tracers: rotations over the poles and vertical motion against exact solutions, what a run never makes, the same bits
on any ranks and in parts."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from atmosphere_support import DAY, grid_of, mean, transform_of, wave_values
from cli_support import call
from input_values import text_of
from mpi4py import MPI
from paths import SUPPORT
from restartable_runs import begin, found_on, record, results, started

from fathometer import _native
from fathometer.apps.atmosphere.atmosphere_file import AtmosphereFile
from fathometer.apps.atmosphere.ground import degrees_from
from fathometer.apps.atmosphere.solver.equations import Planet, Primitive, Shallow, sigma_levels
from fathometer.apps.atmosphere.solver.tracers import Tracers
from fathometer.apps.atmosphere.solver.transform import Grid, Transform
from fathometer.base.errors import FathometerError
from fathometer.config.input_file import validated

EARTH = Planet(6.37122e6, 7.292e-5)
PERIOD = 12 * DAY
RADIUS = np.degrees(1 / 3)


def latitudes(grid):
    return np.stack([grid.latitude(pair) for pair in range(grid.pairs)])[..., None]


def bell_of(grid):
    """Of Williamson's case 1, over 1000 m."""
    away = degrees_from(0.0, 270.0, latitudes(grid), grid.longitude) / RADIUS
    return np.where(away < 1, 0.5 * (1 + np.cos(np.pi * away)), 0.0)


def rotation(grid, angle):
    """Winds [pair, hemisphere, longitude, 2] once around in 12 days, over the poles with 90 degrees."""
    latitude, longitude, tilt = latitudes(grid), grid.longitude, np.radians(angle)
    u = np.cos(latitude) * np.cos(tilt) + np.sin(latitude) * np.cos(longitude) * np.sin(tilt)
    v = -np.sin(longitude) * np.sin(tilt) + 0 * latitude
    return 2 * np.pi * EARTH.radius / PERIOD * np.stack([u, v], axis=-1)


def carried(tracers, winds, steps, period):
    for number in range(steps):
        tracers.winds[...] = winds
        tracers.step(period / steps, number == 0)
    return tracers.values


def errors_of(truncation, steps, angle, values=bell_of):
    """l1, l2 and largest error after 12 days, relative."""
    grid, transform = grid_of(truncation), transform_of(truncation)
    tracers = Tracers(Shallow(EARTH, 1.0), transform, 1)
    exact = values(grid)
    tracers.begin(lambda pair: exact[pair][..., None])
    error = np.abs(carried(tracers, rotation(grid, angle), steps, PERIOD)[..., 0] - exact)
    transform.close()

    class Model:
        pass

    Model.transform = transform
    return (
        mean(Model, error) / mean(Model, exact),
        np.sqrt(mean(Model, error**2) / mean(Model, exact**2)),
        error.max() / exact.max(),
    )


@pytest.mark.parametrize("angle", [0, 45, 90])
def test_a_bell_goes_once_around(angle):
    """Williamson's case 1: over the poles as well as along the equator, and better on a finer grid."""
    coarse, fine = errors_of(21, 48, angle), errors_of(42, 96, angle)
    print(angle, coarse, fine, np.log2(np.array(coarse) / fine))
    assert np.all(np.array(fine) < (0.2, 0.13, 0.15))
    assert np.all(np.log2(np.array(coarse[:2]) / fine[:2]) > 1.5)


def test_what_is_smooth_goes_over_the_poles():
    """A slope from one side of the planet to the other: no place is worse than others by what lies beyond a pole."""

    def slope(grid):
        latitude, longitude = latitudes(grid), grid.longitude
        return 1 + 0.5 * (np.cos(latitude) * np.cos(longitude) + np.sin(latitude))

    coarse, fine = (errors_of(truncation, steps, 90, slope)[2] for truncation, steps in ((21, 48), (42, 96)))
    print(coarse, fine)
    assert fine < 1e-3
    assert coarse > 3 * fine


def test_vertical_motion():
    """Air that falls at the rate c sin(pi eta): tan(pi eta / 2) grows by e^(c pi t)."""

    def error(levels):
        transform = Transform(Grid(5, 8, 16), MPI.COMM_SELF, "alltoallv", 1)
        tracers = Tracers(Primitive(EARTH, *sigma_levels(levels)), transform, 1)
        middle, inner = (np.arange(levels) + 0.5) / levels, np.arange(1, levels) / levels

        def at(eta):
            return np.exp(-(((eta - 0.4) / 0.15) ** 2))

        tracers.begin(lambda _: np.broadcast_to(at(middle), (2, 16, levels)))
        winds = np.concatenate([np.zeros(2 * levels), np.sin(np.pi * inner) / np.pi * levels])
        found = carried(tracers, winds, levels // 2, 1.0)
        transform.close()
        assert np.ptp(found, axis=(0, 1, 2)).max() < 1e-14  # the same in all columns but for rounding
        before = 2 / np.pi * np.arctan(np.tan(np.pi * middle / 2) * np.exp(-1.0))
        return np.abs(found[0, 0, 0] - at(before)).mean(), np.abs(found[0, 0, 0] - at(before)).max()

    found = np.array([error(levels) for levels in (20, 40, 80)])
    print(found, np.log2(found[:-1] / found[1:]))
    assert np.all(found[-1] < (1e-3, 1e-2))
    assert np.all(np.log2(found[:-1, 0] / found[1:, 0]) > 1.7)


def test_winds_that_are_none():
    transform = transform_of(21)
    tracers = Tracers(Shallow(EARTH, 1.0), transform, 1)
    for speed in (np.nan, 1e6):
        tracers.winds[3, 0, 5] = speed
        with pytest.raises(FathometerError, match="the air has come apart; a shorter"):
            tracers.step(3600.0, True)
    transform.close()


def test_air_from_latitudes_that_are_not_here():
    kernel = _native.AtmosphereTracers(longitudes=16, latitudes=8, interfaces=np.array([0.0, 1.0]))
    room, result = np.zeros((1, 2, 16, 3)), np.zeros((2, 16, 1))
    with pytest.raises(IndexError, match="air comes from latitudes that are not here"):
        kernel.carry(pair=1, first=1, radius=1.0, step=1.0, room=room, result=result)


TRACERS = [
    {"name": "bell", "shape": "bell", "radius": 30.0, "latitude": 50.0, "longitude": 20.0, "background": 0.25},
    {"name": "ground", "shape": "cylinder", "radius": 40.0, "latitude": -50.0, "top": 0.7, "value": 2.0},
    {"name": "everywhere", "shape": "uniform", "value": 0.7},
]
BOUNDS = {"bell": (0.25, 1.0), "ground": (0.0, 2.0), "everywhere": (0.7, 0.7)}


def values():
    return wave_values(tracers=TRACERS, time={"end": 0.25})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return started("atmosphere", begin(tmp_path_factory.mktemp("tracers") / "whole", values()), "--threads", "1")


def test_nothing_new_is_larger_or_less(whole):
    """And what is the same everywhere stays so in bits."""
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    found = record(whole)["results"]
    course = found["course"]
    for name, (low, high) in BOUNDS.items():
        assert low == min(row[f"least_of_{name}"] for row in course)
        assert course[0][f"largest_of_{name}"] == max(row[f"largest_of_{name}"] for row in course) <= high
        assert course[-1][f"mean_of_{name}"] == pytest.approx(course[0][f"mean_of_{name}"], rel=0.01)
    assert course[-1]["largest_of_everywhere"] == 0.7
    with xarray.open_dataset(whole / "out" / found["field_files"][-1]) as data:
        assert data.bell.dims == ("time", "level", "latitude", "longitude")
        assert data.bell.units == "1"
        assert np.all(data.everywhere == np.float32(0.7))
        assert float(data.ground[0, -1].max()) > 1.0
    names = [entry["quantity"] for entry in found["balance"]]
    assert names == ["mass", "energy", "bell", "ground", "everywhere"]
    # A record's input, in which nothing is left out, is a file's.
    keys = {key: value for key, value in record(whole)["input"].items() if key != "atmosphere_file"}
    assert [tracer.name for tracer in validated(AtmosphereFile, keys, Path("again")).tracers] == list(BOUNDS)
    assert found["notes"] == []  # a uniform one is meant to be so
    phases = {entry["phase"] for entry in record(whole)["ledger"]["phases"]}
    assert "tracers" in phases


def test_parts_on_other_ranks_have_the_bits_of_one(whole, tmp_path):
    folder = begin(tmp_path / "parts", values())
    started("atmosphere", folder, "--ranks", "2", "--threads", "2", "--set", "time.most_steps=4")
    started("atmosphere", folder, "--ranks", "3", "--threads", "1", "--resume")
    assert list(results(folder).values())[-1] == list(results(whole).values())[-1]
    assert record(folder)["results"]["course"][-1] == record(whole)["results"]["course"][-1]


def test_a_state_of_other_tracers_is_refused(whole, tmp_path):
    """By what differs; in another order they are others, too."""
    shutil.copytree(whole, tmp_path / "again")
    for tracers, words in (
        ([TRACERS[0], TRACERS[1] | {"value": 3.0}, TRACERS[2]], "tracers.2.value: 2.0 then, 3.0 now; --overwrite"),
        (TRACERS[:2], "tracers.3: {'name': 'everywhere',"),
        (TRACERS[1:] + TRACERS[:1], "tracers.1.name: bell then, ground now"),
    ):
        (tmp_path / "again" / "run.toml").write_text(text_of(wave_values(tracers=tracers, time={"end": 0.25})))
        done = call("atmosphere", tmp_path / "again" / "run.toml", "--quiet", "--resume")
        assert done.code == 2
        assert words in done.err


def test_air_that_has_come_apart_is_no_state_to_go_on_from(tmp_path):
    """The last state is one that somebody has looked at."""
    path = begin(tmp_path / "apart", wave_values(
        tracers=TRACERS,
        time={"end": 40.0, "step": 7200.0},
        numerics={"damping": 0.0, "filter": 0.0},
        output={"course_steps": 1000, "restart_steps": 7},
    )) / "run.toml"  # fmt: skip
    done = call("atmosphere", path, "--quiet", "--threads", 1)
    assert done.code == 1
    assert "the air has come apart; a shorter [time] step" in done.err
    states = [json.loads(line)["steps"] for line in (tmp_path / "apart/out/restart/steps.jsonl").open()]
    assert states
    assert all(steps % 7 == 0 for steps in states)


def test_the_same_bits_where_halos_reach_over_ranks():
    program = SUPPORT / "tracers_program.py"
    one = found_on(1, program)
    assert len(one) == 2
    assert found_on(4, program) == one
