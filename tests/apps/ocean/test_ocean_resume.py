"""What a run of an ocean must not do to an earlier one in its folder, and what it may not go on from."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from cli_support import here
from input_values import text_of
from ocean_inputs import ocean, ocean_values

from fathometer.apps.ocean.case import case_of
from fathometer.base.errors import InputError
from fathometer.runs import state_clock
from fathometer.runs.restart_folder import LINES, SEAL
from fathometer.runs.restart_hint import FILE, FOLDER
from fathometer.runs.seal import sealed, unsealed
from fathometer.runs.state_clock import StateClock
from fathometer.storage.datasets.dataset import FILL_VALUE
from fathometer.storage.datasets.reader import DatasetFile

TARGET = {"temperature": {"timescale": 1e6, "target": 283.0}}
WIND = {"kind": "constant", "stress": [0.1, 0.0]}


def write(folder, **changes):
    """An ocean file in a folder."""
    folder.mkdir(exist_ok=True)
    path = folder / "ocean.toml"
    path.write_text(text_of(ocean_values(**changes)))
    return path


def steps_of(folder):
    """Of the restart file."""
    return json.loads((folder / "out" / FOLDER / FILE).read_text())["steps"]


def unfinished(folder, **changes):
    """An ocean file whose run was killed after some steps, as its folder shows it."""
    path = write(folder, **changes)
    assert here("ocean", path).code == 0
    (folder / "out" / "run.json").rename(folder / "out" / "run-unfinished.json")
    return path


def test_a_killed_run_is_not_replaced_without_a_word(tmp_path):
    path = unfinished(tmp_path)
    done = here("ocean", path, "--set", "time.steps=3")
    assert done.code == 2
    assert "out: holds an unfinished run; --resume goes on with it, --overwrite begins anew" in done.err
    assert steps_of(tmp_path) == 10
    assert here("ocean", path, "--set", "time.steps=3", "--overwrite").code == 0
    assert steps_of(tmp_path) == 3


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        (r"[bathymetry] file", {"bathymetry": {"kind": "file", "file": "values.npy"}}),
        (r"[forcing] wind", {"forcing": {"wind": {"kind": "file", "tau_x": "values.npy"}}}),
        (r"[forcing] salinity.target", {"forcing": {"salinity": {"timescale": 1e6, "target": {"file": "values.npy"}}}}),
        (r"[forcing] heat_flux", {"forcing": {"heat_flux": {"file": "values.npy"}}}),
    ],
)
def test_a_file_with_other_values_is_of_another_input(tmp_path, key, changes):
    values = np.full((12, 8), 50.0)
    np.save(tmp_path / "values.npy", values)
    path = write(tmp_path, **changes)
    more = ("--set", "time.steps=12", "--resume")
    assert here("ocean", path, "--set", "time.steps=2").code == 0
    assert here("ocean", path, "--set", "time.steps=4", "--resume").code == 0
    values[3, 4] = 0.0 if "bathymetry" in changes else 49.0
    np.save(tmp_path / "values.npy", values)
    done = here("ocean", path, *more)
    assert done.code == 2
    assert f"is of another input: values of.{key}: " in done.err
    assert steps_of(tmp_path) == 4


def test_a_state_out_of_bounds_is_not_kept_where_the_next_step_fails(tmp_path):
    # Light water lies below, and nobody looks before the solver gives up.
    path = write(
        tmp_path,
        water={"expansion": -1.0},
        initial={"temperature": {"surface": 20.0, "deep": 5.0, "scale": 100.0}, "noise": {"amplitude": 0.01}},
        output={"course_steps": 1000},
    )
    assert here("ocean", path, "--set", "time.steps=1").code == 0
    done = here("ocean", path, "--resume", "--set", "time.steps=100")
    assert done.code == 1
    assert "the state is not finite" in done.err or "fallen through the uppermost level" in done.err
    assert steps_of(tmp_path) == 1


def test_a_vertical_velocity_that_is_not_known_is_missing(tmp_path):
    path = unfinished(tmp_path, forcing={"wind": WIND}, output={"fields": ["vertical_velocity", "height"]})
    newest = tmp_path / "out" / "fields" / "ocean-00000010.nc"
    before = w_of(newest)
    assert np.nanmax(abs(before)) > 0
    state = tmp_path / "out" / FOLDER / FILE
    values = unsealed(state.read_text().strip(), SEAL)
    state.write_text(sealed(values | {"written": [0]}, SEAL) + "\n")  # of a run that ended between two times of results
    assert here("ocean", path, "--resume").code == 0
    assert np.isnan(w_of(newest)).all()


def w_of(path):
    """Vertical velocities in a file of fields, NaN for none."""
    with DatasetFile(path) as file:
        values = file.read("w", (0, 0, 0, 0), file.variable("w").shape)
    return np.where(values == np.float32(FILL_VALUE), np.nan, values)


def test_a_field_that_is_named_twice(tmp_path):
    with pytest.raises(InputError, match=r'\[output\] fields: found "height" more than once; allowed: each field once'):
        ocean(tmp_path, output__fields=["height", "velocity", "height"])


@pytest.mark.parametrize("changes", [{"initial": {"temperature": 283.0}}, {"forcing": TARGET}])
def test_kelvins_are_refused(tmp_path, changes):
    with pytest.raises(InputError, match=r"found 283\S*; allowed: .*from -60 to 150"):
        case_of(ocean(tmp_path, **changes))


def test_a_step_that_was_too_long_between_two_looks(tmp_path):
    # The surface falls by half of the first level at once, and drag has stopped all of it long before the only look.
    changes = {
        "grid": {"cells": [24, 8], "spacing": [1e4, 1e4], "levels": [100.0, 100.0]},
        "initial": {"surface_height": {"kind": "cosine", "amplitude": 49.0}},
        "mixing": {"bottom_drag": "linear", "drag_coefficient": 0.01},
        "barotropic": {"implicitness": 1.0},
        "time": {"step": 2500.0, "steps": 60},
    }
    path = write(tmp_path, **changes)
    for steps in (1, 60):
        done = here("ocean", path, "--set", f"output.course_steps={steps}", "--overwrite")
        assert done.code == 1
        assert " of a cell's water leaves it along an axis in a step of 2500 s; allowed: up to " in done.err
        assert not (tmp_path / "out" / FOLDER / FILE).exists()


def test_a_row_knows_the_steps_before_an_interruption(tmp_path, monkeypatch):
    """A state is written between two rows, and the run ends there, as a signal ends it: the next row has the largest
    Courant number of all steps since the row before."""
    changes = {"forcing": {"wind": WIND}, "initial": {"noise": {"amplitude": 0.5}}, "output": {"course_steps": 10}}
    (tmp_path / "whole").mkdir(), (tmp_path / "cut").mkdir()
    assert here("ocean", write(tmp_path / "whole", **changes)).code == 0
    path, asked = write(tmp_path / "cut", **changes), iter([False] * 5 + [True])
    monkeypatch.setattr(StateClock, "after_step", lambda self: (False, next(asked, False)))
    assert here("ocean", path).code == 75
    assert steps_of(tmp_path / "cut") == 6
    assert here("ocean", path, "--resume").code == 0
    rows = [
        json.loads((tmp_path / name / "out" / "run.json").read_text())["results"]["course"] for name in ("whole", "cut")
    ]
    assert rows[0] == rows[1]


def test_states_by_the_clock_are_some_minutes_apart(tmp_path, monkeypatch):
    """With 200 seconds between two looks at it: after every second step, and at the end."""
    path = write(tmp_path, time={"steps": 6, "step": 60.0})
    monkeypatch.setattr(state_clock, "now", itertools.count(0.0, 200.0).__next__)
    assert here("ocean", path, "--quiet").code == 0
    lines = (tmp_path / "out" / FOLDER / LINES).read_text().splitlines()
    assert [json.loads(line)["steps"] for line in lines] == [2, 4, 6]
