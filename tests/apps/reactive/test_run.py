"""`fathometer reactive` from the flow file to its results, on one rank and on two."""

from __future__ import annotations

import json
import os
import shutil
import signal

import h5py
import numpy as np
import pytest
from cli_support import call, here
from input_values import text_of
from reactive_flows import values

from fathometer.apps.reactive.chemistry.data_file import GIVEN
from fathometer.runs.restart_hint import FILE, FOLDER
from fathometer.storage.datasets.reader import DatasetFile

pytest.importorskip("petsc4py", reason="PETSc is not installed")
from fathometer.apps.reactive.solver.problem import ReactiveSolver

GRID = {"cells": [12, 6, 4], "spacing": [0.01, 0.02, 0.03]}
SMALL = {"grid": GRID, "time": {"end": 8000.0, "step": 1000.0, "adaptive": False}}


def write(folder, **changes):
    folder.mkdir(exist_ok=True)
    path = folder / "flow.toml"
    path.write_text(text_of(values(**{**SMALL, **changes})))
    return path


def record(folder):
    return json.loads((folder / "out" / "run.json").read_text())


def state(folder):
    place = folder / "out" / FOLDER
    found = json.loads((place / FILE).read_text())
    with DatasetFile(place / found["folder"] / "state.nc") as file:
        return {name: file.read(name).tobytes() for name in file.header.variables}


def test_a_run_writes_fields_restart_picture_and_record(tmp_path):
    path = write(tmp_path, output={"every": 4000.0})
    done = here("reactive", path)
    assert done.code == 0, done.err
    found = record(tmp_path)
    assert found["validity"]["finished"]
    results = found["results"]
    assert results["steps"] == 8
    assert results["field_times_seconds"] == [0.0, 4000.0, 8000.0]
    assert len(results["course"]) == 8
    assert max(row["error"] for row in results["balance"]) < 1e-10
    for name in ("flow.xdmf", "flow.png", "report.html"):
        assert (tmp_path / "out" / name).stat().st_size > 500
    with h5py.File(tmp_path / "out" / "fields" / "pH-0002.h5") as file:
        ph = file["values"][...]
    assert ph.shape == (4, 6, 12)  # z, y, x
    assert ph[..., 0].max() < ph[..., -1].min() - 0.3  # acid enters at x-
    assert ph[0, 0, -1] == pytest.approx(results["waters"]["resident"]["pH"], abs=0.01)
    assert not (tmp_path / "out" / "run-unfinished.json").exists()


def test_n_steps_and_n_more_are_2n_steps_bit_by_bit(tmp_path):
    whole = write(tmp_path / "whole", time={"end": 20000.0, "step": 500.0}, output={"every": 10000.0})
    parts = write(tmp_path / "parts", time={"end": 20000.0, "step": 500.0}, output={"every": 10000.0})
    assert here("reactive", whole, "--set", "time.most_steps=8").code == 0
    for steps in (4, 8):
        assert here("reactive", parts, "--resume", "--set", f"time.most_steps={steps}").code == 0
        assert record(tmp_path / "parts")["results"]["steps"] == steps
    one, other = state(tmp_path / "whole"), state(tmp_path / "parts")
    assert one == other
    assert len(one) == 5
    assert record(tmp_path / "parts")["results"]["earlier_steps"] == 4
    moles = [[row["moles_out"] for row in record(tmp_path / name)["results"]["balance"]] for name in ("whole", "parts")]
    assert moles[0] == moles[1]


def test_a_state_is_written_after_the_step_in_which_a_signal_comes(tmp_path, monkeypatch):
    """A second one ends the run at once, and the sentence says that there is none."""
    path = write(tmp_path, time={"end": 4000.0, "step": 1000.0, "adaptive": False}, output={"every": 2000.0})
    step = ReactiveSolver.step
    for numbers, steps, said in (
        ([signal.SIGTERM, signal.SIGTERM], None, "begins anew: there is no restart file yet"),
        ([signal.SIGINT], 1, "goes on from the newest restart file"),
        ([signal.SIGTERM], 2, "goes on from the newest restart file"),
    ):

        def signalling(solver, seconds, numbers=numbers):
            found = step(solver, seconds)
            for number in numbers:
                os.kill(os.getpid(), number)
            return found

        with monkeypatch.context() as patched:
            patched.setattr(ReactiveSolver, "step", signalling)
            done = here("reactive", path, "--resume")
        assert done.code == 75
        assert done.err.endswith(f"fathometer: interrupted; --resume {said}\n")
        there = tmp_path / "out" / FOLDER / FILE
        assert (json.loads(there.read_text())["steps"] if there.exists() else None) == steps
    assert here("reactive", path, "--resume").code == 0
    found = record(tmp_path)["results"]
    assert (found["steps"], found["earlier_steps"], found["field_times_seconds"]) == (4, 2, [0.0, 2000.0, 4000.0])


def test_two_ranks_agree_with_one(tmp_path):
    for ranks in (1, 2):
        path = write(tmp_path / str(ranks))
        done = call("reactive", path, "--ranks", ranks, "--quiet")
        assert done.code == 0, done.err
    for name in ("pH", "total_Ca+2", "volume_Calcite"):
        one, two = (h5py.File(tmp_path / ranks / "out" / "fields" / f"{name}-0001.h5") for ranks in ("1", "2"))
        assert np.allclose(one["values"][...], two["values"][...], rtol=1e-6, atol=0.0)
    assert len(record(tmp_path / "2")["results"]["blocks"]) == 2
    # A state of two ranks is gone on with by one.
    done = here("reactive", tmp_path / "2" / "flow.toml", "--resume", "--set", "time.end=9000.0")
    assert done.code == 0, done.err
    assert record(tmp_path / "2")["results"]["steps"] == 9


def test_an_earlier_run_is_not_replaced_without_a_word(tmp_path):
    path = write(tmp_path)
    assert here("reactive", path, "--set", "time.most_steps=1").code == 0
    before = (tmp_path / "out" / "run.json").read_bytes()
    done = here("reactive", path)
    assert done.code == 2
    assert "--resume goes on with it, --overwrite begins anew" in done.err
    assert (tmp_path / "out" / "run.json").read_bytes() == before
    done = here("reactive", path, "--resume", "--set", "medium.porosity=0.3")
    assert done.code == 2
    assert "is of another input: medium.porosity: 0.25 then, 0.3 now" in done.err
    done = here("reactive", path, "--resume", "--set", 'output.fields=["strength"]')
    assert done.code == 2
    assert "is of another input: output.fields" in done.err
    done = here("reactive", path, "--resume", "--set", "time.end=10.0")
    assert done.code == 2
    assert "end: found 10 s, but the run to be resumed is at 1000 s" in done.err


def test_another_chemistry_is_refused_even_of_the_same_name(tmp_path):
    path = write(tmp_path)
    (tmp_path / "own.toml").write_text(GIVEN.read_text())
    own = ("--set", "chemistry.file=own.toml", "--set", "time.most_steps=1")
    assert here("reactive", path, *own).code == 0
    for before, after, said in (
        ("log_k = -8.48", "log_k = -8.40", "constants.mineral_log_k"),
        ("a = 0.5", "a = 0.6", "constants.a"),
    ):
        text = GIVEN.read_text()
        assert before in text
        (tmp_path / "own.toml").write_text(text.replace(before, after, 1))
        done = here("reactive", path, *own, "--resume")
        assert done.code == 2
        assert f"is of another input: {said}" in done.err


def test_a_step_that_fails_leaves_the_state_before_and_says_where(tmp_path):
    path = write(tmp_path, newton={"most_iterations": 1}, time={"end": 8000.0, "step": 1000.0, "smallest_step": 300.0})
    done = here("reactive", path)
    assert done.code == 1
    assert "does not converge even when cut to 500 s" in done.err
    assert "cell" in done.err
    assert "\n" not in done.err.strip().splitlines()[-1]
    assert json.loads((tmp_path / "out" / FOLDER / FILE).read_text())["steps"] == 0
    unfinished = json.loads((tmp_path / "out" / "run-unfinished.json").read_text())
    assert "does not converge" in unfinished["validity"]["reasons"][0]
    done = here("reactive", path, "--resume", "--set", "newton.most_iterations=25", "--set", "time.most_steps=1")
    assert done.code == 0, done.err


def test_flow_from_heads_around_a_block(tmp_path):
    path = write(
        tmp_path,
        flow=None,
        medium={"conductivity": 1e-4},
        region=[{"name": "clay", "x": [0.04, 0.08], "y": [0.0, 0.06], "conductivity": 1e-9}],
        boundary=[
            {"side": "x-", "kind": "fixed", "water": "acid", "head": 0.001},
            {"side": "x+", "kind": "open", "water": "resident", "head": 0.0},
        ],
        time={"end": 20000.0, "step": 2000.0},
    )
    done = here("reactive", path)
    assert done.code == 0, done.err
    with h5py.File(tmp_path / "out" / "fields" / "total_Tracer-0001.h5") as file:
        tracer = file["values"][0]  # y, x
    assert tracer[5, 6] > 5 * tracer[0, 6]  # the clay keeps the tracer out


def test_the_demo(tmp_path):
    done = here("reactive", "--demo", "--quick", "--output", tmp_path / "demo")
    assert done.code == 0, done.err
    assert (tmp_path / "demo" / "flow.png").exists()
    again = here("reactive", tmp_path / "demo" / "demo.toml")
    assert again.code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "found neither; needed: one of them"),
        (["--demo", "--resume"], "--resume: found together with --demo"),
        (["--quick", "flow.toml"], "--quick: found without --demo"),
        (["--resume", "--overwrite", "flow.toml"], "--overwrite: found together with --resume"),
    ],
)
def test_words_that_contradict(words, said):
    done = here("reactive", *words)
    assert done.code == 2
    assert said in done.err


def test_bad_options_of_petsc(tmp_path):
    path = write(tmp_path)
    for options, said in (
        ("-ksp_type nonsense", "petsc"),
        ("ksp_type", "allowed: options as on PETSc"),
        ("-help", "help"),
    ):
        done = here("reactive", path, "--overwrite", "--set", f"petsc.options={options}")
        assert done.code == 2, options
        assert said in done.err
        assert len(done.err.strip().splitlines()[-1]) < 400
    done = here("reactive", path, "--overwrite", "--set", "petsc.options=-nobody_asks 1", "--set", "time.most_steps=1")
    assert done.code == 0
    assert "nobody_asks" in record(tmp_path)["results"]["notes"][0]
    assert "nobody_asks" in done.out + done.err
    shutil.rmtree(tmp_path / "out")


def test_what_is_no_error_is_noted(tmp_path):
    gypsum = {
        "primary": ["Ca+2", "SO4-2"],
        "secondary": [],
        "minerals": ["Gypsum"],
        "activity": "ideal",
        "specific_area": {"Gypsum": 1.0},
    }
    path = tmp_path / "flow.toml"
    changes = {
        "grid": {"cells": [2, 1, 1], "spacing": [0.1, 0.1, 0.1]},
        "chemistry": gypsum,
        "medium": {"porosity": 0.2},
        "water": [{"name": "brine", "species": {"Ca+2": {"total": 1.0}, "SO4-2": {"total": 0.9}}}],
        "initial": [{"water": "brine", "minerals": {"Gypsum": 0.799}}],
        "boundary": None,
        "flow": None,
        "time": {"end": 1e9, "step": 1.0},
    }
    path.write_text(text_of(values(**changes)))
    done = here("reactive", path)
    assert done.code == 0, done.err
    charge, full = record(tmp_path)["results"]["notes"]
    assert charge.startswith('the water "brine" is not neutral: 0.2 eq/kg')
    assert "together take up to 1.01" in full
    assert full in done.out + done.err


def test_inputs_below_the_results_stay(tmp_path):
    (tmp_path / "out").mkdir()
    path = write(tmp_path / "out" / FOLDER)
    text = path.read_text()
    done = here("reactive", path, "--set", "output.directory=..")
    assert done.code == 2
    assert "lies where results are written and removed" in done.err
    assert path.read_text() == text


def test_fields_are_the_waters_that_were_given(tmp_path):
    path = write(tmp_path, time={"end": 1.0, "step": 1.0}, output={"fields": ["molalities", "totals", "strength"]})
    done = here("reactive", path)
    assert done.code == 0, done.err
    resident = record(tmp_path)["results"]["waters"]["resident"]

    def field(name):
        (found,) = (tmp_path / "out" / "fields").glob(f"{name}-0000.h5")
        with h5py.File(found) as file:
            return file["values"][0, 0, 0]

    assert field("ionic_strength") == pytest.approx(resident["ionic_strength_mol_per_kg"], rel=1e-6)
    for name, molality in resident["molalities_mol_per_kg"].items():
        assert field(f"molality_{name}") == pytest.approx(molality, rel=1e-6), name
    for name, total in resident["totals_mol_per_kg"].items():
        assert field(f"total_{name}") == pytest.approx(total, rel=1e-6), name


def test_a_run_anew_leaves_no_volumes_of_the_earlier_one(tmp_path):
    path = write(tmp_path, output={"every": 1000.0})
    assert here("reactive", path).code == 0
    foreign = tmp_path / "out" / "fields" / "mine-0003.h5"
    foreign.write_bytes(b"")
    assert here("reactive", path, "--overwrite", "--set", "output.every=8000.0").code == 0
    numbers = {file.stem[-4:] for file in (tmp_path / "out" / "fields").glob("pH*")}
    assert numbers == {"0000", "0001"}
    assert foreign.exists()


def test_restart_files_by_the_clock(tmp_path, monkeypatch):
    from fathometer.runs import state_clock

    monkeypatch.setattr(state_clock, "STATE_SECONDS", 0.0)
    monkeypatch.setattr(state_clock, "LOOK_SECONDS", 0.0)
    assert here("reactive", write(tmp_path)).code == 0
    assert len((tmp_path / "out" / FOLDER / "steps.jsonl").read_text().splitlines()) == 8


def test_a_grid_that_memory_cannot_hold_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("fathometer.runs.time_run.usable_memory", lambda comm: 20)
    path = tmp_path / "flow.toml"
    path.write_text(text_of(values()))
    done = here("reactive", path, "--quiet")
    assert done.code == 2
    assert done.err.startswith("fathometer: error: not enough memory: ")


def test_fields_may_have_levels_but_be_no_coefficients(tmp_path):
    path = write(tmp_path, output={"every": 8000.0}, storage={"write": "auto:levels=2"})
    assert here("reactive", path).code == 0
    with h5py.File(tmp_path / "out" / "fields" / "pH-0001.h5") as file:
        assert file["levels/1"].shape == (2, 3, 6)
        assert np.allclose(file["levels/1"][0, 0, 0], file["values"][:2, :2, :2].mean(), rtol=1e-6)
    done = here("reactive", path, "--set", "storage.write=auto:filter=wavelet", "--overwrite")
    assert done.code == 2
    assert "[storage] write: found auto:filter=wavelet; allowed: any other filter, or levels" in done.err
