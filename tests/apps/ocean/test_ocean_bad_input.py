"""What is wrong with an ocean: one line that names the key, what was found and what is allowed."""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import pytest
from ocean_inputs import SPHERE, ocean

from fathometer.apps.ocean.case import case_of, input_files
from fathometer.base.errors import InputError
from fathometer.cli.commands import ocean as command

PROFILE = {"surface": 20.0, "deep": 3.0, "scale": 100.0}


def refused(tmp_path, words, call):
    with pytest.raises(InputError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert str(caught.value).count("ocean.toml") == 1
    assert str(caught.value).startswith(str(tmp_path / "ocean.toml"))
    assert any(word in str(caught.value) for word in ("allowed", "needed", "did you mean", "known", "no such file"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grid__cells": [0, 8]}, r"\[grid\] cells: found \[0, 8\]; allowed: a list of 2 integers from 2"),
        ({"grid__cells": [1000000, 1000]}, r"\[grid\] cells: found 1000000 x 1000 = 1000000000; allowed: up to 1"),
        ({"grid__cells": [3, 8], "grid__periodic": True}, "cells: found 3 along x, which is periodic; allowed: from 4"),
        (
            {"grid__spacing": [-1.0, 1.0]},
            r"\[grid\] spacing: found \[-1.0, 1.0\]; allowed: a list of 2 numbers from 1e-09",
        ),
        ({"grid__levels": []}, r"\[grid\] levels: found \[\]; allowed: a list of at least one number from"),
        ({"grid__levels": [10.0, -1.0]}, r"\[grid\] levels: found \[10.0, -1.0\]; allowed: a list of at least one"),
        ({"grid__levels": {"count": 3, "depth": 90.0, "top": 40.0}}, r"levels: top: found 40; allowed: up to 30 m"),
        ({"grid__levels": {"count": 3}}, r"\[grid\] levels.depth: missing; needed: a number from 0.001 to 1"),
        ({"grid__radius": 1e6}, "radius: found on a plane; allowed"),
        ({"grid": SPHERE | {"cells": [35, 30]}}, "spacing: found 35 x 10 = 350 degrees of a periodic sphere"),
        ({"grid": SPHERE | {"cells": [40, 30], "periodic": False}}, "= 400 degrees along x; allowed: up to 360"),
        ({"grid": SPHERE | {"origin": [0.0, -60.0]}}, "found latitudes from -60 to 90; allowed: from -89.9 to 89.9"),
        ({"bathymetry": {"kind": "hole"}}, r'\[bathymetry\] kind: found "hole"; allowed: "bowl" or "continents"'),
        ({"bathymetry": None}, r"\[bathymetry\]"),
        ({"bathymetry": {"kind": "slope"}}, r"\[bathymetry\] shallow: missing; needed: a number from 0 to 1"),
        ({"rotation__rate": 1e-4}, r"\[rotation\] rate: found on a plane; allowed: f, beta, y0"),
        ({"rotation__f": 1e-4, "grid": SPHERE}, r"\[rotation\] f: found on a sphere; allowed: rate"),
        ({"water__density": 0.0}, r"\[water\] density: found 0.0; allowed: a number from 100 to 25000 \(kg/m³\)"),
        ({"water__density": 1.026}, r"density: found 1.026; allowed: a number from 100"),
        (
            {"water__equation_of_state": "wright", "water__expansion": 2e-4},
            r'\[water\] expansion: found with equation_of_state = "wright"; allowed: with "linear"',
        ),
        ({"forcing__specific_heat": 4.0}, r"specific_heat: found 4.0; allowed: a number from 100"),
        ({"initial__temperature": 283.15}, r"\[initial\] temperature: found 283.15; allowed: a number from -60 to 150"),
        ({"water__equation_of_state": "teos"}, '"linear" or "wright"'),
        ({"mixing__viscosity": -1.0}, r"\[mixing\] viscosity: found -1.0; allowed: a number from 0 to 1e\+08 \(m²/s\)"),
        ({"mixing__viscosty": 1.0}, "did you mean viscosity"),
        ({"mixing__bottom_drag": "linear"}, r"\[mixing\] drag_coefficient: missing; needed with bottom_drag"),
        ({"mixing__drag_coefficient": 1e-3}, r'drag_coefficient: found with bottom_drag = "none"; allowed'),
        ({"initial__temperature": "warm"}, r'\[initial\] temperature: found "warm"; allowed: a number from -60'),
        ({"initial__temperature": PROFILE | {"file": "t.npy"}}, "temperature: surface, file: found both of them"),
        ({"initial__temperature": {"deep": 1.0, "scale": 2.0}}, "temperature: surface, file: found neither"),
        (
            {"initial__temperature": {"surface": 1.0, "deep": 1.0}},
            "temperature: scale: missing; needed: deep and scale",
        ),
        ({"initial__temperature": {"file": "t.npy", "deep": 1.0}}, "file: found together with deep or scale"),
        ({"initial__temperature": PROFILE | {"surface": {"south": 1.0}}}, "surface: found south; needed: south and no"),
        (
            {"initial__temperature": PROFILE | {"surface": {"equator": 1.0, "pole": 1.0}}},
            r"\[initial\] temperature.surface: found equator and pole on a plane; allowed: south and north",
        ),
        (
            {"initial__salinity": {"file": "s.npy", "axes": "xyt"}},
            'salinity.axes: found "xyt"; allowed: "xyz" or "zyx"',
        ),
        ({"initial__surface_height": {"kind": "wave"}}, 'surface_height.kind: found "wave"; allowed: "cosine" or'),
        ({"forcing__wind": {"kind": "gale"}}, r'\[forcing\] wind.kind: found "gale"; allowed: "channel"'),
        ({"forcing__wind": {"kind": "channel", "stress": 1.0}}, "wind.stress: unknown key; known: kind, amplitude"),
        (
            {"forcing__wind": {"kind": "zonal"}},
            r'\[forcing\] wind.kind: found "zonal" on a plane; allowed: on a sphere',
        ),
        ({"forcing__temperature": {"target": 1.0}}, r"\[forcing\] temperature.timescale: missing; needed: a number"),
        (
            {"forcing__salinity": {"timescale": 1.0, "target": {"south": 1.0, "file": "x.npy"}}},
            "salinity.target: found south and file; needed: south and north or equator and pole or file",
        ),
        ({"barotropic__implicitness": 0.4}, r"implicitness: found 0.4; allowed: a number from 0.5 to 1"),
        ({"barotropic__tolerance": 1.0}, "tolerance: found 1.0; allowed: a number above 0 and below 1"),
        ({"barotropic__solver": "cg"}, r'\[barotropic\] solver: found "cg"; allowed: "pcg" or'),
        (
            {"decomposition__ranks": [0, 2]},
            r"\[decomposition\] ranks: found \[0, 2\]; allowed: a list of 2 integers from",
        ),
        ({"time__end": 1.0}, "end, steps: found both of them; needed: one of them"),
        ({"time__steps": None}, "end, steps: found neither of them; needed: one of them"),
        ({"time": {"step": 1e-9, "end": 1e9}}, r"\[time\] end: found more than"),
        ({"output": {"every": 1.0, "every_steps": 1}}, "every_steps: found together with every; allowed: one of them"),
        (
            {"output__every_steps": 1, "time__steps": 10**6},
            r"every_steps: found 1; allowed: from 100 on, for fields at",
        ),
        ({"output__every": 600.0, "time__steps": 10**6}, r"every: found 600; allowed: from 60000 on, for fields at"),
        ({"output__fields": ["heat"]}, r"\[output\] fields: found \['heat'\]; allowed: a list of \"temperature\""),
    ],
)
def test_wrong_keys(tmp_path, changes, words):
    refused(tmp_path, words, lambda: ocean(tmp_path, **changes))


def depths(**at):
    """Depths of 300 m in the 12 x 8 cells of the base, and what is at some of them: x3y2=0."""
    values = np.full((12, 8), 300.0)
    for place, value in at.items():
        i, j = (int(n) for n in place[1:].split("y"))
        values[i, j] = value
    return values


FILE = {"kind": "file", "file": "depth.npy"}
NOOK = depths(x0y1=0.0, x1y0=0.0, x1y1=0.0)  # the cell in the corner is alone

CASE_PROBLEMS = {
    "deeper than the grid": (
        {"bathymetry__depth": 301.0},
        {},
        r"\[bathymetry\] depth: found 301 m; allowed: up to 300 m, the depth of all levels",
    ),
    "more levels than the grid": ({"bathymetry__least_levels": 4}, {}, "least_levels: found 4; allowed: up to 3"),
    "shallow end is deeper": (
        {"bathymetry": {"kind": "slope", "depth": 100.0, "shallow": 200.0}},
        {},
        "shallow: found 200 m; allowed: up to the depth, 100 m",
    ),
    "no file": ({"bathymetry": FILE}, {}, r"\[bathymetry\] file: .*depth.npy: no such file"),
    "no number": (
        {"bathymetry": FILE},
        {"depth": depths(x3y2=np.nan, x4y2=np.inf)},
        r"\[bathymetry\] file: found nan in 2 cells, the first of them 3, 2 \(x, y\); allowed: finite depths, 0",
    ),
    "negative": (
        {"bathymetry": FILE},
        {"depth": depths(x3y2=-5.0)},
        r"file: found -5 in 1 cell 3, 2 \(x, y\); allowed: depths from 0 on, positive down \(positive = \"up\" takes",
    ),
    "below the levels": (
        {"bathymetry": FILE},
        {"depth": depths(x3y2=400.0)},
        r"file: found 400 in 1 cell 3, 2 \(x, y\); allowed: depths up to 300 m, that of all levels",
    ),
    "other shape": (
        {"bathymetry": FILE},
        {"depth": depths().T},
        r"found 8 x 12 values \(x, y\); needed: 12 x 8 \(x, y\), as the grid has cells, or axes for another order",
    ),
    "three axes": (
        {"bathymetry": FILE},
        {"depth": depths()[None]},
        r"found 1 x 12 x 8 values \(x, y\); needed: 12 x 8",
    ),
    "wet mask on land": (
        {"bathymetry": FILE | {"mask": "mask.npy"}},
        {"depth": depths(x3y2=0.0), "mask": np.ones((12, 8))},
        r"\[bathymetry\] mask: found 1 in 1 cell 3, 2 \(x, y\); allowed: 0 where the depth is 0",
    ),
    "dry mask on water": (
        {"bathymetry": FILE | {"mask": "mask.npy"}},
        {"depth": depths(x3y2=0.0), "mask": np.zeros((12, 8))},
        r"\[bathymetry\] mask: found 0 in 95 cells, the first of them 0, 0 \(x, y\); allowed: 1 where the depth is",
    ),
    "mask of other numbers": (
        {"bathymetry": FILE | {"mask": "mask.npy"}},
        {"depth": depths(), "mask": np.full((12, 8), 2.0)},
        r"mask: found 2 in 96 cells, the first of them 0, 0 \(x, y\); allowed: 1 \(water\) or 0 \(land\)",
    ),
    "isolated": (
        {"bathymetry": FILE},
        {"depth": NOOK},
        r"found 1 isolated cell of water, the first one 0, 0 \(x, y\), without a corner .* fill_isolated = true",
    ),
    "no water": (
        {"bathymetry": FILE},
        {"depth": np.zeros((12, 8))},
        "found no water, of 96 cells; needed: at least four",
    ),
    "wind of another shape": (
        {"forcing__wind": {"kind": "file", "tau_x": "tau.npy"}},
        {"tau": np.zeros((13, 8))},
        r"\[forcing\] wind.tau_x: tau.npy: found 13 x 8 values \(x, y\); needed: 12 x 8",
    ),
    "wind that is none": (
        {"forcing__wind": {"kind": "file", "tau_x": "tau.npy"}},
        {"tau": depths(x5y5=np.nan)},
        r"wind.tau_x: found 300 in 77 cells, the first of them 0, 0 \(x, y\); allowed: stress in N/m², up to 100",
    ),
    "target that is none": (
        {"forcing__salinity": {"timescale": 1e6, "target": {"file": "target.npy"}}},
        {"target": depths(x5y5=np.nan)},
        r"\[forcing\] salinity.target: found nan in 1 cell 5, 5 \(x, y\); allowed: salinities, up to 500",
    ),
    "temperature of another shape": (
        {"initial__temperature": {"file": "t.npy"}},
        {"t": np.zeros((3, 8, 12))},
        r"temperature: t.npy: found 3 x 8 x 12 values \(x, y, z\); needed: 12 x 8 x 3 \(x, y, z\), as the",
    ),
    "temperature that is none": (
        {"initial__temperature": {"file": "t.npy"}},
        {"t": np.full((12, 8, 3), 1e36)},
        r"\[initial\] temperature: found 1e\+36 in 3 cells, the first of them 0, 0, 0 \(x, y, z\); allowed: te",
    ),
    "surface below the first level": (
        {"initial__surface_height": {"kind": "cosine", "amplitude": 40.0}},
        {},
        r"surface_height: found 39.6578 m in the cell 0, 0 \(x, y\); allowed: up to 25 m, half the thickness",
    ),
    "step and viscosity": (
        {"mixing__viscosity": 1e5, "time__step": 1000.0},
        {},
        r"\[time\] step: found 1000 s; allowed: up to 400 s, which \[mixing\] viscosity of 100000 m²/s allows in cells",
    ),
    "step and diffusivity": (
        {"mixing__diffusivity": 1e5, "time__step": 1000.0},
        {},
        r"\[time\] step: found 1000 s; allowed: up to 400 s, which \[mixing\] diffusivity",
    ),
    "step and internal waves": (
        {"initial__temperature": PROFILE, "time__step": 1e5},
        {},
        r"\[time\] step: found 100000 s; allowed: up to 7410 s, which internal waves of 0.944 m/s allow",
    ),
}


@pytest.mark.parametrize(("changes", "files", "words"), CASE_PROBLEMS.values(), ids=CASE_PROBLEMS)
def test_what_only_the_grid_and_the_files_tell(tmp_path, changes, files, words):
    for name, values in files.items():
        np.save(tmp_path / f"{name}.npy", values)
    refused(tmp_path, words, lambda: case_of(ocean(tmp_path, **changes)))


def test_labels_that_contradict_axes(tmp_path):
    netcdf4 = pytest.importorskip("netCDF4")
    with netcdf4.Dataset(tmp_path / "t.nc", "w", format="NETCDF3_CLASSIC") as file:
        for name, cells in (("depth", 3), ("lat", 8), ("lon", 12)):
            file.createDimension(name, cells)
        file.createVariable("temp", "f8", ("depth", "lat", "lon"))[:] = 1.0
    keys = {"file": "t.nc:temp", "axes": "xyz"}
    refused(
        tmp_path, 'found axes = "xyz", but the file labels', lambda: case_of(ocean(tmp_path, initial__salinity=keys))
    )


def test_input_files_that_are_missing(tmp_path):
    path = tmp_path / "ocean.toml"
    file = ocean(tmp_path, initial__salinity={"file": "s.npy"})
    refused(tmp_path, "ocean.toml: no such file", partial(input_files, file))
    path.write_text("[grid]\n")
    refused(tmp_path, r"\[initial\] salinity.file: .*s.npy: no such file", partial(input_files, file))
    np.save(tmp_path / "s.npy", np.zeros((12, 8, 3)))
    assert input_files(file) == [path, tmp_path / "s.npy"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "OCEAN.toml, --demo: found neither; needed: one of them"),
        (["o.toml", "--demo"], "OCEAN.toml, --demo: found both; needed: one of them"),
        (["--demo", "--resume"], "--resume: found together with --demo"),
        (["--demo", "--set", "time.steps=1"], "--set: found together with --demo"),
        (["o.toml", "--quick"], "--quick: found without --demo"),
        (["o.toml", "--output", "x"], "--output: found without --demo"),
        (["o.toml", "--resume", "--overwrite"], "--overwrite: found together with --resume"),
        (["--write-case", "one-degree"], "OCEAN.toml, --demo: found neither"),
        (["o.toml", "--write-case", "one-degree", "--set", "a=1"], "--set: found together with --write-case"),
        (["o.toml", "--write-case", "one-degree", "--trace", "t"], "--trace: found together with --write-case"),
        ([__file__, "--write-case", "one-degree"], "exists; allowed: another name, or --overwrite"),
    ],
)
def test_options_that_contradict_each_other(words, message):
    parser = argparse.ArgumentParser()
    command.COMMAND.add_arguments(parser)
    with pytest.raises(InputError, match=message):
        command.COMMAND.prepare(parser.parse_args(words))
