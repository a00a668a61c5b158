"""The ocean file: keys, what they resolve to, cases made by code."""

from __future__ import annotations

import argparse
from types import SimpleNamespace

import pytest
from input_values import text_of
from mpi4py import MPI
from ocean_inputs import BASE, SPHERE, ocean, ocean_values
from paths import ROOT

from fathometer.apps.ocean.cases import CASES, earth_text, gyre_text
from fathometer.apps.ocean.ocean_file import OceanFile, load_ocean
from fathometer.cli.commands import ocean as command
from fathometer.config.input_file import validated

RICH = {
    "grid": SPHERE | {"levels": {"count": 5, "depth": 500.0, "top": 20.0}},
    "bathymetry": {"kind": "continents", "seed": 3, "least_levels": 2},
    "rotation": {"rate": 1e-4},
    "mixing": {"viscosity": 10.0, "bottom_drag": "quadratic", "drag_coefficient": 1e-3},
    "initial": {
        "temperature": {"surface": {"equator": 20.0, "pole": 0.0}, "deep": 1.0, "scale": 100.0},
        "salinity": {"file": "salt.nc:salt", "axes": "zyx"},
        "surface_height": {"kind": "gaussian", "amplitude": 1.0, "centre": [0.0, 1.0], "radius": 1e5},
        "noise": {"amplitude": 0.1, "seed": 1},
    },
    "forcing": {
        "wind": {"kind": "file", "tau_x": "wind.npy"},
        "temperature": {"timescale": 1e6, "target": {"south": 0.0, "north": 1.0}},
        "salinity": {"timescale": 1e6, "target": 35.0},
        "heat_flux": {"file": "heat.npy"},
    },
    "barotropic": {"iterations": 20, "solver": "pipelined"},
    "decomposition": {"block": [8, 8]},
    "output": {"every": 1200.0, "fields": ["height"]},
}


@pytest.mark.parametrize("changes", [{}, RICH], ids=["few keys", "many keys"])
def test_a_file_and_what_it_resolves_to_are_the_same(tmp_path, changes):
    path = tmp_path / "ocean.toml"
    path.write_text(text_of(BASE | changes))
    file = load_ocean(path, ["time.step=300"])
    assert file.time.step == 300
    assert validated(OceanFile, file.resolved(), path) == file


@pytest.mark.parametrize(
    ("changes", "steps", "between"),
    [
        ({}, 10, 10),
        ({"time": {"step": 600.0, "end": 6000.0}}, 10, 10),
        ({"time": {"step": 600.0, "end": 6001.0}}, 11, 11),
        ({"time": {"step": 0.1, "end": 0.7}}, 7, 7),  # 0.7 / 0.1 is less than 7
        ({"output": {"every": 1700.0}}, 10, 3),
        ({"output": {"every": 1.0}}, 10, 1),
        ({"output": {"every_steps": 4}}, 10, 4),
    ],
)
def test_steps(tmp_path, changes, steps, between):
    file = ocean(tmp_path, **changes)
    assert (file.time.count, file.field_steps) == (steps, between)


def test_the_solver_is_told_all_its_keys(tmp_path):
    keys = ocean(tmp_path, barotropic={"tolerance": 1e-9}).barotropic.solver_keys()
    assert keys["tolerance"] == 1e-9
    assert "implicitness" not in keys
    assert keys["iterations"] is None


@pytest.mark.parametrize("text", [gyre_text(), gyre_text((24, 16, 4), 3), earth_text(), earth_text((40, 48, 4), 3)])
def test_cases_made_by_code_are_ocean_files(tmp_path, text):
    path = tmp_path / "ocean.toml"
    path.write_text(text)
    assert load_ocean(path).time.step > 0


def test_the_command_has_all_cases():
    assert sorted(command.CASES) == sorted(CASES)


def test_the_example_is_the_double_gyre():
    example, made = ROOT / "examples" / "ocean_gyre.toml", gyre_text(directory="ocean_gyre")
    lines = [line for line in example.read_text().splitlines() if not line.startswith("#")]
    assert lines == [line for line in made.splitlines() if not line.startswith("#")]


def test_values_are_not_changed_by_reading_them(tmp_path):
    values = ocean_values(**RICH)
    before = text_of(values)
    validated(OceanFile, values, tmp_path / "ocean.toml")
    assert text_of(values) == before


def test_the_command_writes_a_case(tmp_path):
    parser, said = argparse.ArgumentParser(), []
    command.COMMAND.add_arguments(parser)
    path = tmp_path / "earth.toml"
    options = parser.parse_args([str(path), "--write-case", "one-degree"])
    assert command.COMMAND.prepare(options) is None
    call = SimpleNamespace(options=options, comm=MPI.COMM_SELF, say=said.append)
    command.COMMAND.run_on_ranks(call)
    file = load_ocean(path)
    assert (file.grid.cells, file.grid.levels.count) == ((320, 384), 40)
    assert said == [f"{path}: written; run it: fathometer ocean {path}"]
