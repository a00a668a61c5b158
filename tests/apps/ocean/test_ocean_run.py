"""`fathometer ocean` from the ocean file to its results: resumed, interrupted, killed; what ends it with one line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time

import numpy as np
import pytest
from cli_support import call, finish, partial, program, start
from cli_support import here as in_this_process
from input_values import text_of
from ocean_inputs import ocean_values
from patience import PATIENCE

from fathometer.apps.ocean.fields import OceanFields
from fathometer.apps.ocean.solver.model import OceanModel
from fathometer.base.errors import FathometerError
from fathometer.runs.restart_hint import FILE, FOLDER

CELLS = (24, 16)
FIELDS = ["temperature", "salinity", "velocity", "vertical_velocity", "height", "streamfunction"]
# A ridge that is land on one side, wind, restoring, noise: small, and nothing is symmetric.
SEA = ocean_values(
    grid={"cells": list(CELLS), "spacing": [4e4, 5e4], "levels": [50.0, 100.0, 200.0, 400.0]},
    bathymetry={"kind": "slope", "shallow": 0.0, "along": "x"},
    rotation={"f": 1e-4, "beta": 2e-11},
    mixing={"viscosity": 1e4, "diffusivity": 1e3, "bottom_drag": "quadratic", "drag_coefficient": 1e-3},
    initial={
        "temperature": {"surface": {"south": 20.0, "north": 5.0}, "deep": 2.0, "scale": 300.0},
        "noise": {"amplitude": 0.1},
    },
    forcing={
        "wind": {"kind": "double-gyre", "amplitude": 0.2},
        "temperature": {"timescale": 1e6, "target": {"south": 22.0, "north": 4.0}},
    },
    barotropic={"tile": 4, "sums": "exact"},
    decomposition={"block": [4, 4]},
    time={"step": 1800.0, "steps": 40},
    output={"every_steps": 10, "course_steps": 5, "restart_steps": 15, "fields": FIELDS},
)


def here(*words):
    """On one thread: more of them would only wait for each other."""
    return in_this_process(*words, "--threads", 1)


def write(folder, values=SEA, **changes):
    """An ocean file; changes: keys by table__key."""
    folder.mkdir(exist_ok=True)
    path = folder / "ocean.toml"
    kept = {name: dict(table) for name, table in values.items()}
    for name, value in changes.items():
        table, _, key = name.partition("__")
        kept.setdefault(table, {})[key] = value
    path.write_text(text_of(kept))
    return path


def record(folder):
    return json.loads((folder / "out" / "run.json").read_text())


def restart(folder):
    """What the newest restart file has beside its arrays; None before there is one."""
    try:
        return json.loads((folder / "out" / FOLDER / FILE).read_text())
    except FileNotFoundError:
        return None


def same(one, other):
    """Whether the states at the end are the same bits, and all fields."""
    files = []
    for folder in (one, other):
        found = {
            f"restart/{restart(folder)['folder']}": folder / "out" / FOLDER / restart(folder)["folder"] / "state.nc"
        }
        found |= {path.name: path for path in sorted((folder / "out" / "fields").iterdir())}
        files.append({name: path.read_bytes() for name, path in found.items()})
    assert files[0].keys() == files[1].keys()
    assert len(files[0]) >= 3
    assert {name for name in files[0] if files[0][name] != files[1][name]} == set()
    return True


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of 40 steps on one rank."""
    folder = tmp_path_factory.mktemp("whole")
    done = here("ocean", write(folder))
    assert done.code == 0, done.err
    return folder


def test_a_run_writes_fields_restart_picture_and_record(whole):
    found = record(whole)
    assert found["validity"]["finished"]
    results = found["results"]
    assert (results["steps"], results["earlier_steps"], results["time_seconds"]) == (40, 0, 72000.0)
    assert [row["step"] for row in results["course"]] == list(range(5, 41, 5))
    assert results["field_files"] == [f"fields/ocean-{step:08d}.nc" for step in range(0, 41, 10)]
    assert max(row["error"] for row in results["balance"]) < 1e-12
    assert results["counts"]["reductions"] >= results["counts"]["iterations"] > 400
    for name in (*(str(file) for file in results["field_files"]), "report.html"):
        assert (whole / "out" / name).stat().st_size > 10_000
    assert not (whole / "out" / "run-unfinished.json").exists()
    assert partial(whole) == []


def test_xarray_opens_all_fields(whole):
    xarray = pytest.importorskip("xarray")
    coder = xarray.coders.CFDatetimeCoder(use_cftime=True)
    means = []
    for path in sorted((whole / "out" / "fields").iterdir()):
        with xarray.open_dataset(path, decode_times=coder) as data:
            assert data.temperature.dims == ("time", "depth", "y", "x")
            assert data.temperature.shape == (1, 4, *CELLS[::-1])
            assert {"salinity", "u", "v", "w", "surface_height"} < set(data)
            wet = data.depth.size - np.isnan(data.temperature.values).sum((0, 1))
            assert np.array_equal(wet, data.levels.values)
            means.append(float(abs(data.u).mean()))
    assert means[0] == 0 < means[1] < 1


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """The same of 20 steps."""
    folder = tmp_path_factory.mktemp("half")
    assert here("ocean", write(folder), "--set", "time.steps=20").code == 0
    assert restart(folder)["steps"] == 20
    return folder


@pytest.mark.parametrize("ranks", [1, 2])
def test_n_steps_and_n_more_are_2n_steps_bit_by_bit(ranks, whole, half, tmp_path):
    """Also on another number of ranks, which has other blocks: sums are exact."""
    path = shutil.copytree(half, tmp_path / "parts") / "ocean.toml"
    if ranks == 1:
        done = here("ocean", path, "--resume")
    else:
        done = call("ocean", path, "--resume", "--ranks", ranks, "--set", "decomposition.block=[8, 4]")
    assert done.code == 0, done.err
    assert same(whole, tmp_path / "parts")
    one, other = (record(folder)["results"] for folder in (whole, tmp_path / "parts"))
    assert other["earlier_steps"] == 20
    assert len(other["blocks"]["owners"]) != len(one["blocks"]["owners"]) or ranks == 1
    assert [row["step"] for row in other["course"]] == [row["step"] for row in one["course"]]
    if ranks == 1:
        assert other["course"] == one["course"]
        assert other["balance"] == one["balance"]
    assert max(row["error"] for row in other["balance"]) < 1e-12


def under_way(path, steps, *words):
    """A run of more steps than anybody will wait for, after the restart file of so many of them."""
    endless = ("--set", "time.steps=1000000", "--set", "output.every_steps=1000", "--resume")
    process = start(*program(), "ocean", path, "--quiet", "--threads", 1, *endless, *words)
    deadline = time.monotonic() + PATIENCE
    while (restart(path.parent) or {"steps": 0})["steps"] < steps:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def test_a_run_that_is_interrupted_and_then_killed_goes_on(tmp_path):
    """On two ranks first, then on one."""
    path = write(tmp_path / "cut")
    process = under_way(path, 15, "--ranks", 2)
    process.send_signal(signal.SIGTERM)
    done = finish(process)
    assert done.code == 75, done.err
    lines = [line for line in done.err.splitlines() if line.startswith("fathometer:")]
    assert lines == ["fathometer: interrupted; --resume goes on from the newest restart file"]
    assert "Traceback" not in done.err
    unfinished = json.loads((tmp_path / "cut" / "out" / "run-unfinished.json").read_text())
    assert unfinished["validity"] == unfinished["validity"] | {"finished": False}
    assert unfinished["validity"]["reasons"][0] == "unfinished: interrupted"
    before = restart(tmp_path / "cut")["steps"]
    process = under_way(path, before + 15)
    os.killpg(process.pid, signal.SIGKILL)
    finish(process)
    after = restart(tmp_path / "cut")["steps"]
    assert after > before > 0
    assert after % 15 == 0
    steps = ("--set", f"time.steps={after + 5}", "--set", "output.every_steps=1000")
    done = here("ocean", path, "--resume", *steps)
    assert done.code == 0, done.err
    assert here("ocean", write(tmp_path / "one"), *steps).code == 0
    assert same(tmp_path / "one", tmp_path / "cut")
    assert not (tmp_path / "cut" / "out" / "run-unfinished.json").exists()
    assert partial(tmp_path / "cut") == []


NO_STATES = {"output__restart_steps": 10**6}  # beside those that nobody asks for in the ocean file


def test_a_run_that_is_interrupted_writes_a_state(whole, tmp_path):
    """After the next step, the same on both ranks."""
    path = write(tmp_path, **NO_STATES)
    process = start(*program(), "ocean", path, "--quiet", "--threads", 1, "--ranks", 2, "--set", "time.steps=90000")
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "out" / "fields" / "ocean-00000010.nc").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    done = finish(process)
    assert (done.code, done.err) == (75, "fathometer: interrupted; --resume goes on from the newest restart file\n")
    steps = restart(tmp_path)["steps"]
    assert steps >= 10
    more = ("--set", f"time.steps={steps + 5}")
    assert here("ocean", path, "--resume", *more).code == 0
    assert record(tmp_path)["results"]["earlier_steps"] == steps
    one = here("ocean", write(tmp_path / "one"), *more)
    assert one.code == 0, one.err
    assert same(tmp_path / "one", tmp_path)


def signalled(monkeypatch, at, *numbers):
    """Send this process signals in a step."""
    step = OceanModel.step

    def signalling(model):
        if model.state.step + 1 == at:
            for number in numbers:
                os.kill(os.getpid(), number)
        return step(model)

    monkeypatch.setattr(OceanModel, "step", signalling)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_state_is_written_after_the_step_in_which_a_signal_comes(whole, tmp_path, monkeypatch, number):
    path = write(tmp_path, **NO_STATES)
    with monkeypatch.context() as patched:
        signalled(patched, 13, number, signal.SIGUSR1)
        done = here("ocean", path)
    assert done.code == 75
    assert done.err.endswith("fathometer: interrupted; --resume goes on from the newest restart file\n")
    assert restart(tmp_path)["steps"] == 13
    assert here("ocean", path, "--resume").code == 0
    assert same(whole, tmp_path)
    assert record(tmp_path)["results"]["course"] == record(whole)["results"]["course"]


def test_a_second_signal_ends_a_run_at_once(tmp_path, monkeypatch):
    path = write(tmp_path, **NO_STATES)
    signalled(monkeypatch, 13, signal.SIGTERM, signal.SIGTERM)
    done = here("ocean", path)
    assert done.code == 75
    assert done.err.endswith("fathometer: interrupted; --resume begins anew: there is no restart file yet\n")
    assert restart(tmp_path) is None


def test_fields_that_could_not_be_written_are_there_after_a_resume(whole, tmp_path, monkeypatch):
    """No state follows them: --resume takes their step again, from the state before, or from the beginning."""
    path = write(tmp_path)
    for failing in (20, 10, 40):
        fields = OceanFields.write

        def full(self, step, *more, failing=failing, fields=fields):
            if step == failing:
                raise FathometerError(f"ocean-{step:08d}.nc: cannot be written: No space left on device")
            return fields(self, step, *more)

        with monkeypatch.context() as patched:
            patched.setattr(OceanFields, "write", full)
            assert failed(here("ocean", path, "--overwrite"), 1, f"{failing:08d}.nc", "No space left on device")
        assert {20: 15, 10: None, 40: 30}[failing] == (restart(tmp_path) or {"steps": None})["steps"]
        assert here("ocean", path, "--resume").code == 0
        assert same(whole, tmp_path)


def test_results_that_are_gone_are_not_passed_over(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "gone")
    path, fields = tmp_path / "gone" / "ocean.toml", tmp_path / "gone" / "out" / "fields"
    (fields / "ocean-00000040.nc").unlink()
    offered = "; the state of step 30 before it is whole: --resume-from 30 goes on from there"
    assert failed(here("ocean", path, "--resume"), 1, "ocean-00000040.nc: is missing", offered)
    assert here("ocean", path, "--resume-from", 30).code == 0
    assert same(whole, tmp_path / "gone")
    os.truncate(fields / "ocean-00000010.nc", 9000)
    words = "ocean-00000010.nc: is truncated", "; there is no other state that is whole; --overwrite begins anew"
    assert failed(here("ocean", path, "--resume"), 1, *words)
    done = here("ocean", path, "--resume-from", 30, "--overwrite")
    assert failed(done, 2, "--overwrite: found together with --resume-from; allowed: one of them")


def test_a_damaged_state_is_refused_and_the_one_before_is_gone_on_from(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "bad")
    path = tmp_path / "bad" / "ocean.toml"
    state = tmp_path / "bad" / "out" / FOLDER / restart(whole)["folder"] / "state.nc"
    content = bytearray(state.read_bytes())
    content[len(content) // 2] ^= 16
    state.write_bytes(content)
    words = "00000040/state.nc:", "is damaged: its checksum is wrong; the state of step 30 before it is whole"
    for more in ((), ("--ranks", 2)):
        done = (call if more else here)("ocean", path, "--quiet", "--resume", *more)
        assert failed(done, 1, *words)
    assert here("ocean", path, "--resume-from", 30).code == 0
    assert same(whole, tmp_path / "bad")


def test_an_earlier_run_is_not_replaced_without_a_word(whole, tmp_path):
    folder = tmp_path / "again"
    shutil.copytree(whole, folder)
    path, kept = folder / "ocean.toml", (folder / "out" / "run.json").read_bytes()
    for words, said in (
        ((), "--resume goes on with it, --overwrite begins anew"),
        (("--resume", "--set", "mixing.viscosity=2e4"), "another input: mixing.viscosity: 10000.0 then, 20000.0 now"),
        (("--resume", "--set", "time.step=900.0"), "another input: step: 1800.0 then, 900.0 now"),
        (("--resume", "--set", 'output.fields=["height"]'), "another input: output.fields"),
        (("--resume", "--set", "bathymetry.depth=500.0"), "another input: bathymetry.depth"),
        (("--resume", "--set", "time.steps=39"), "found 39 steps, but the run to be resumed has taken 40"),
        (("--resume", "--overwrite"), "--overwrite: found together with --resume"),
    ):
        done = here("ocean", path, *words)
        assert done.code == 2, words
        assert said in done.err
        assert "Traceback" not in done.err
    assert (folder / "out" / "run.json").read_bytes() == kept
    done = here("ocean", path, "--overwrite", "--set", "time.steps=3")
    assert done.code == 0, done.err
    assert record(folder)["results"]["steps"] == 3
    assert sorted(file.name for file in (folder / "out" / "fields").iterdir()) == [
        f"ocean-{step:08d}.nc" for step in (0, 3)
    ]


def failed(done, code, *said):
    """One line says what is wrong."""
    lines = [line for line in done.err.splitlines() if line.startswith("fathometer:")]
    assert done.code == code, done.err
    assert len(lines) == 1, done.err
    assert all(words in lines[0] for words in said), lines
    assert "Traceback" not in done.err
    return True


def test_a_step_that_gets_too_long_for_the_currents(tmp_path):
    path = write(tmp_path, forcing__wind={"kind": "constant", "stress": [60.0, 0.0]}, output__course_steps=1)
    done = here("ocean", path, "--set", "time.steps=400")
    assert failed(done, 1, "of a cell's water leaves it along an axis in a step of 1800 s; allowed: up to ")
    allowed = float(done.err.split("allowed: up to ")[1].split(" s")[0])
    assert 900 < allowed < 1800
    assert "leaves it" in json.loads((tmp_path / "out" / "run-unfinished.json").read_text())["validity"]["reasons"][0]
    assert restart(tmp_path) is None  # bounds of tracers are broken then


def test_a_state_that_has_come_apart_between_looks(tmp_path):
    """It is met by the solver first, but is not the solver's fault; and no restart file is made of it."""
    seldom = dict.fromkeys(("output__course_steps", "output__every_steps", "output__restart_steps"), 1000)
    path = write(tmp_path, forcing__wind={"kind": "constant", "stress": [60.0, 0.0]}, **seldom)
    done = here("ocean", path, "--set", "time.steps=2000")
    assert failed(done, 1, "step ", "allowed: ")
    assert "converged" not in done.err
    assert "Warning" not in done.err
    assert restart(tmp_path) is None


def test_a_solve_that_does_not_converge(tmp_path):
    done = here("ocean", write(tmp_path), "--set", "barotropic.most_iterations=2")
    assert failed(done, 1, "step 1: the barotropic solver has not converged in 2 iterations", "allowed: more of them")
    done = here("ocean", tmp_path / "ocean.toml", "--resume", "--set", "time.steps=5")
    assert done.code == 0, done.err


def test_more_ranks_than_tiles(tmp_path):
    path = write(tmp_path, {name: table for name, table in SEA.items() if name != "decomposition"})
    done = call("ocean", path, "--ranks", 2, "--set", "barotropic.tile=32")
    assert failed(done, 2, "2 ranks: found 1 x 1 tiles of 32 cells", "allowed: fewer ranks, or smaller tiles")
    assert not (tmp_path / "out" / "run.json").exists()


def test_the_demo(tmp_path):
    done = here("ocean", "--demo", "--quick", "--output", tmp_path / "demo")
    assert done.code == 0, done.err
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000
    assert list((tmp_path / "demo").glob("*.png"))
    again = here("ocean", tmp_path / "demo" / "demo.toml")
    assert failed(again, 2, "--resume goes on with it")


def test_a_grid_that_memory_cannot_hold_is_one_line(tmp_path, monkeypatch):
    for module in ("runs.time_run", "apps.ocean.simulation"):
        monkeypatch.setattr(f"fathometer.{module}.usable_memory", lambda comm: 20_000)
    path = tmp_path / "ocean.toml"
    for cells, part in (([12, 8], "state"), ([400, 300], "case")):
        path.write_text(text_of(ocean_values(grid__cells=cells)))
        done = in_this_process("ocean", path, "--quiet")
        assert done.code == 2
        assert done.err.startswith("fathometer: error: not enough memory: ")
        assert f"({part} " in done.err
