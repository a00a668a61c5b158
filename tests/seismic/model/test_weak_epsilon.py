"""Cells with epsilon < delta: refused, or changed as little as makes the wave equation well-posed, and reported."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import MODEL, NX, NZ, call, here, inputs, survey
from machine_support import MACHINE
from survey_support import load, model_file, run_survey

from fathometer.plan.machine_file import save_machine
from fathometer.report.records import read_record

EPSILON, DELTA = np.full((NX, NZ), 0.125, np.float32), np.full((NX, NZ), 0.0625, np.float32)
WEAK = [(10, 10, 0.25), (11, 12, 0.375), (39, 0, 0.25), (20, 29, 0.1875)]  # cells in which delta is that
for x, z, value in WEAK:
    DELTA[x, z] = value
CHANGED = {  # what the run must do the same as
    "raise-epsilon": (np.maximum(EPSILON, DELTA), DELTA),
    "lower-delta": (EPSILON, np.minimum(EPSILON, DELTA)),
}


def vti(folder: Path, name: str, arrays: tuple[np.ndarray, np.ndarray], keys: dict[str, Any]) -> Path:
    inputs(folder)
    for what, values in zip(("epsilon", "delta"), arrays, strict=True):
        np.save(folder / f"{name}-{what}.npy", values)
    files = {"model.epsilon": f"{name}-epsilon.npy", "model.delta": f"{name}-delta.npy", "output.directory": name}
    return survey(folder, MODEL | files | keys, f"{name}.toml")


def results(folder: Path) -> dict[str, Any]:
    """Of the record, which must be as the schema says."""
    return dict(read_record(folder / "run.json").record["results"])


@pytest.mark.parametrize("handling", CHANGED)
def test_weak_epsilon_is_changed_and_counted(tmp_path: Path, handling: str) -> None:
    weak = model_file(vti(tmp_path, "weak", (EPSILON, DELTA), {"model.on_weak_epsilon": handling}))
    told = results(tmp_path / "weak")["weak_epsilon"]
    assert {**told, "summary": ""} == {
        "handling": handling,
        "cells": len(WEAK),
        "of_cells": NX * NZ,
        "largest_change": 0.25,
        "summary": "",
    }
    sound = model_file(vti(tmp_path, "sound", CHANGED[handling], {}))
    assert sound.record["results"]["weak_epsilon"] is None
    assert weak.files["shots"].read_bytes() == sound.files["shots"].read_bytes()


def test_a_change_is_told(tmp_path: Path) -> None:
    """As a note, and at the head of the page."""
    done = here("model", vti(tmp_path, "weak", (EPSILON, DELTA), {"model.on_weak_epsilon": "raise-epsilon"}))
    assert done.code == 0, done.err
    told = results(tmp_path / "weak")["weak_epsilon"]["summary"]
    assert "4 of 1200 cells" in told
    assert "by at most 0.25 at x = 110 m, z = 120 m" in told
    assert f"note: [model] on_weak_epsilon: {told}" in done.out + done.err
    page = (tmp_path / "weak" / "report.html").read_text()
    assert "Epsilon below delta" in page
    assert told.replace("<", "&lt;") in page


def test_weak_epsilon_is_refused_unless_asked_for(tmp_path: Path) -> None:
    save_machine(tmp_path / "machine.json", MACHINE)
    path = vti(tmp_path, "weak", (EPSILON, DELTA), {})
    for command in (["model"], ["plan", "--on", tmp_path / "machine.json"]):
        done = here(command[0], path, *command[1:])
        assert done.code == 2
        for words in ("epsilon < delta in 4 of 1200 cells", "worst by 0.25", "[model] on_weak_epsilon"):
            assert words in done.err
    for handling in CHANGED:
        path = vti(tmp_path, "weak", (EPSILON, DELTA), {"model.on_weak_epsilon": handling})
        done = here("plan", path, "--on", tmp_path / "machine.json", "--json", "-")
        assert done.code == 0, done.err
        told = json.loads(done.out)["weak_epsilon"]
        assert (told["cells"], told["of_cells"], told["largest_change"]) == (4, 1200, 0.25)


def test_each_weak_cell_is_counted_once_on_ranks_and_windows(tmp_path: Path) -> None:
    """Padding repeats outer cells, halos and the windows of shots overlap: none of these counts twice."""
    keys = {key: None for key in MODEL if key.startswith("acquisition")} | {
        "acquisition.gathers": "recorded.segy",
        "propagation.duration": None,
        "imaging.aperture": 50.0,
        "model.on_weak_epsilon": "raise-epsilon",
    }
    weak = vti(tmp_path, "weak", (EPSILON, DELTA), keys | {"parallel.ranks_per_shot": "all"})
    done = call("migrate", weak, "--quiet", "--ranks", 2)
    assert done.code == 0, done.err
    told = results(tmp_path / "weak")["weak_epsilon"]
    assert (told["cells"], told["of_cells"], told["largest_change"]) == (4, 1200, 0.25)
    sound = vti(tmp_path, "sound", CHANGED["raise-epsilon"], keys | {"model.on_weak_epsilon": None})
    run_survey(sound)
    images = [load(tmp_path / name / "image.rsf") for name in ("weak", "sound")]
    assert images[0].any()
    np.testing.assert_array_equal(*images)
