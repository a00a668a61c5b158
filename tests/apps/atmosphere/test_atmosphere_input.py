"""Wrong atmosphere files and ranks: one line each that names the key, what was found and what is allowed."""

import numpy as np
import pytest
from atmosphere_support import water_values, wave_values
from cli_support import call, here
from input_values import text_of
from restartable_runs import problem

from fathometer.apps.atmosphere.application import APPLICATION
from fathometer.apps.atmosphere.case import case_of, check_ranks
from fathometer.base.errors import InputError

UNIFORM = {"name": "dye", "shape": "uniform"}
LEVELS = {"a": [200.0, 100.0, 0.0], "b": [0.0, 0.5, 1.0]}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (wave_values(grid__latitudes=30), "found 30 with truncation = 21; allowed: even numbers from 32 on"),
        (wave_values(grid__latitudes=33), "latitudes: found 33"),
        (wave_values(grid__longitudes=60), "longitudes: found 60 with truncation = 21; allowed: even numbers from 64"),
        (wave_values(levels=None), '[levels]: missing; needed with [start] kind = "baroclinic-wave"'),
        (water_values(levels={"count": 3}), "which is shallow water; allowed: none"),
        (wave_values(levels={"count": 3, "table": "cam26"}), "found table and count; needed: one of them"),
        (wave_values(levels={}), "found none; needed: one of them"),
        (wave_values(levels={"a": LEVELS["a"]}), "a, b: found one of them; needed: both, or none"),
        (wave_values(levels=LEVELS | {"b": [0.0, 1.0]}), "b: found 2 values; needed: 3, as of a"),
        (wave_values(levels=LEVELS | {"b": [0.0, 0.5, 0.9]}), "found 0 and 0.9 at the end; needed: 0 and 1"),
        (wave_values(levels=LEVELS | {"b": [0.1, 0.5, 1.0]}), "found 200 and 0.1 at the beginning"),
        (
            wave_values(levels={"a": [0.0, 0.0, 0.0, 0.0], "b": [0.0, 0.6, 0.5, 1.0]}),
            "b: found values that fall",
        ),
        (
            wave_values(levels={"a": [0.0, 3e4, 0.0, 0.0], "b": [0.0, 0.0, 0.5, 1.0]}),
            "found 20000 Pa under 30000 Pa at interface 2, where 40000 Pa are at the ground",
        ),
        (
            wave_values(levels=LEVELS | {"a": [9e4, 100.0, 0.0]}),
            "[levels] a: found [90000.0, 100.0, 0.0]; allowed: a list of 2 to 1001 numbers from -40000 to 40000 (Pa)",
        ),
        (
            wave_values(levels=LEVELS | {"b": [0.0, 1.5, 1.0]}),
            "[levels] b: found [0.0, 1.5, 1.0]; allowed: a list of 2 to 1001 numbers from 0 to 1",
        ),
        (wave_values(ground={"height": 100.0}), "height, radius: found one of them; needed: both, or none"),
        (wave_values(time={"end": 1.0, "step": 1000.0}), "86.4 steps of 1000 s; needed: a whole number of steps"),
        (wave_values(output__every=0.3), "[output] every: found 0.3 days, 10.8 steps of 2400 s"),
        (water_values(physics={"forcing": "radiation"}), 'found "radiation" with shallow water; allowed: "none"'),
        (wave_values(physics={"balance": "all"}), 'balance: found "all" with forcing = "none"; allowed: "none"'),
        (
            wave_values(physics={"forcing": "held-suarez", "declination": 23.0}),
            'declination: found 23.0 with forcing = "held-suarez"; allowed: 0.0',
        ),
        (
            wave_values(start__temperature=250.0),
            'temperature: found 250.0 with kind = "baroclinic-wave"; allowed: 280.0',
        ),
        (water_values(start__disturbed=False), 'disturbed: found false with kind = "rossby-haurwitz"; allowed: true'),
        (wave_values(physics={"convection": True}), 'convection: found with forcing = "none"; allowed: left out'),
        (wave_values(tracers=[{"name": "2nd", "shape": "uniform"}]), "allowed: a letter, then up to 63 letters"),
        (wave_values(tracers=[{"name": "u", "shape": "uniform"}]), 'found "u", which the run has itself'),
        (wave_values(tracers=[{"name": "energy", "shape": "uniform"}]), 'found "energy", which the run has'),
        (wave_values(tracers=[UNIFORM, UNIFORM]), '[[tracers]] 2: name: found "dye" again; needed: one of its own'),
        (wave_values(tracers=[UNIFORM | {"radius": 1.0}]), 'radius: found with shape = "uniform"; allowed: left out'),
        (wave_values(tracers=[{"name": "dye", "shape": "bell"}]), 'radius: missing; needed with shape = "bell"'),
        (
            wave_values(tracers=[UNIFORM | {"shape": "bell", "radius": 9.0, "top": 0.5, "bottom": 0.5}]),
            "top, bottom: found 0.5 and 0.5; needed: top less than bottom",
        ),
        (
            water_values(tracers=[UNIFORM | {"shape": "bell", "radius": 9.0, "top": 0.5}]),
            "[[tracers]] 1: top, bottom: found with shallow water; allowed: left out",
        ),
        (
            wave_values(numerics={"damping": 1e15, "damping_power": 2}),
            "found 1e+15 m^2/s; allowed with damping_power = 2: up to 7.83e+07",
        ),
        (wave_values(numerics={"damping_power": 3}), "damping_power: found 3; allowed: an even integer from 2 to 4"),
        (water_values(output={"fields": ["temperature"]}), "which shallow water has not"),
    ],
)
def test_wrong_files(values, words, tmp_path):
    assert words in problem(APPLICATION, tmp_path / "run.toml", values)


def write_heights(path, latitudes, values, name="surface_altitude"):
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    axes = ("latitude", "longitude")
    data = xarray.Dataset({name: (axes, values)}, coords={"latitude": latitudes})
    data.to_netcdf(path, format="NETCDF3_64BIT", engine="scipy")


def with_heights(tmp_path, **more):
    (tmp_path / "wave.toml").write_text(text_of(wave_values(ground={"file": "heights.nc", **more}, **TIMES)))
    return case_of(APPLICATION.load(tmp_path / "wave.toml"))


TIMES = {"time": {"end": 1.0}}


def test_heights_of_a_file(tmp_path):
    """Either way round, and others are refused."""
    latitudes = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(32)[0]))
    heights = np.random.default_rng(1).uniform(0, 3000, (32, 64))
    write_heights(tmp_path / "heights.nc", latitudes, heights)
    found = with_heights(tmp_path)
    assert np.array_equal(found.heights, heights)
    assert np.allclose(found._mountains(0) / found.equations.planet.gravity, [heights[31], heights[0]])
    # Pressures are those of mountains of air.
    *_, temperature, pressure = found.weather(3)
    below = found._mountains(3) / (287.0 * temperature[..., -1])
    assert np.allclose(pressure, 1e5 * np.exp(-below))
    write_heights(tmp_path / "heights.nc", latitudes[::-1], heights[::-1])
    assert np.array_equal(with_heights(tmp_path).heights, heights)
    for grid, values, words in (
        (np.linspace(-87, 87, 32), heights, "latitude 0: found -87.0000°; needed: -85.7606°"),
        (latitudes + np.nan, heights, "latitude 0: found nan°"),
        (latitudes, heights[:, :32], r"surface_altitude: found the shape \(32, 32\); needed: \(32, 64\)"),
        (latitudes, heights + np.nan, "found a height that is no number"),
    ):
        write_heights(tmp_path / "heights.nc", grid, values)
        with pytest.raises(InputError, match=words):
            with_heights(tmp_path)
    write_heights(tmp_path / "heights.nc", latitudes, heights)
    with pytest.raises(InputError, match="has no variable z"):
        with_heights(tmp_path, variable="z")


def test_a_mountain_above_the_water(tmp_path):
    path = tmp_path / "wave.toml"
    path.write_text(text_of(water_values(ground={"height": 20000.0, "radius": 10.0})))
    done = call("atmosphere", path, "--quiet", "--ranks", 2)
    assert done.code == 2
    assert "[ground]: found" in done.err
    assert "allowed: mountains under the water" in done.err


def test_more_ranks_than_pairs(tmp_path):
    path = tmp_path / "wave.toml"
    path.write_text(text_of(wave_values()))
    case = case_of(APPLICATION.load(path))
    check_ranks(case, 16)
    with pytest.raises(InputError, match="found 17 ranks; allowed: up to 16, with 16 pairs of latitudes and 22 wave"):
        check_ranks(case, 17)


def test_a_step_that_is_too_long(tmp_path):
    path = tmp_path / "wave.toml"
    path.write_text(text_of(wave_values(time={"end": 1.0, "step": 14400.0}, output={})))
    done = here("atmosphere", path, "--quiet")
    assert done.code == 2
    assert "[time] step: found 14400 s with winds of 35.1 m/s; allowed: up to 8.63e+03 s" in done.err
    assert not (tmp_path / "out" / "run.json").exists()


def test_air_that_comes_apart(tmp_path):
    path = tmp_path / "wave.toml"
    values = wave_values(time={"end": 40.0, "step": 7200.0}, numerics={"damping": 0.0, "filter": 0.0}, output={})
    path.write_text(text_of(values))
    done = here("atmosphere", path, "--quiet")
    assert done.code != 0
    assert "the air has come apart; a shorter [time] step" in done.err


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_shallow_atmosphere_that_overflows_says_so_in_one_line(tmp_path):
    """Winds overflow within a step before they are found: NumPy warned of it beside."""
    path = tmp_path / "water.toml"
    path.write_text(text_of(water_values(planet={"rotation": 0.001}, time={"end": 0.25, "step": 1800.0}, output={})))
    done = here("atmosphere", path, "--quiet")
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "the air has come apart" in done.err
