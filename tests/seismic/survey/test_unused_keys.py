"""Keys that no command of a survey takes are told, once; those that another command takes are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import MIGRATE, MODEL, inputs, run, survey
from extreme_program import nested

from fathometer.base.errors import InputError
from fathometer.seismic.setup.unused_keys import unused_of_migration, unused_of_modelling, unused_of_time_migration
from fathometer.seismic.survey import Survey, survey_of

TIME = {
    "acquisition.gathers": "recorded.segy",
    "time_migration.velocity": 2000.0,
    "time_migration.x": [0.0, 90.0, 10.0],
}
NONE = ""


def of(keys: dict[str, Any]) -> Survey:
    return survey_of(nested(keys), Path("survey.toml"))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"history.tolerance": 0.01}, '[history] tolerance: without effect with encoding = "float32"'),
        ({"history.tolerance": 0.01, "history.encoding": "zfp"}, NONE),
        (
            {"history.states": "disk", "history.store": "memory"},
            '[history] states: without effect with store = "memory"',
        ),
        ({"history.states": "disk", "history.store": "checkpoint"}, NONE),
        ({"history.states": "disk"}, NONE),  # auto may choose checkpoints
        ({"history.direct": True, "history.store": "checkpoint"}, "[history] direct: without effect with store"),
        ({"history.direct": True, "history.store": "disk"}, NONE),
        ({"output.vertical_datum": "mean sea level"}, NONE),
        ({}, NONE),
    ],
)
def test_keys_of_a_migration(keys: dict[str, Any], words: str) -> None:
    notes = unused_of_migration(of(MIGRATE | keys))
    assert len(notes) == bool(words)
    assert all(note.startswith(words) for note in notes)


def test_a_datum_of_a_modelling() -> None:
    assert "a modelling writes no image" in unused_of_modelling(of(MODEL | {"output.vertical_datum": "sea"}))[0]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            TIME | {"imaging.aperture": 100.0, "imaging.every": 4, "acquisition.outside": "drop"},
            "[imaging] aperture, [imaging] every, [acquisition] outside: without effect in `migrate-time`; `migrate` "
            "takes them, and the survey has no [model] and no [wavelet] for it",
        ),
        (
            TIME | {"imaging.laplacian": False},
            "[imaging] laplacian: without effect in `migrate-time`; `migrate` takes it",
        ),
        (TIME, NONE),
        (MIGRATE | TIME | {"imaging.aperture": 100.0, "acquisition.outside": "drop"}, NONE),
    ],
)
def test_keys_of_a_time_migration(keys: dict[str, Any], words: str) -> None:
    notes = unused_of_time_migration(of(keys))
    assert len(notes) == bool(words)
    assert all(note.startswith(words) for note in notes)


def test_a_treatment_of_weak_epsilon_without_epsilon() -> None:
    with pytest.raises(InputError, match=r"\[model\] on_weak_epsilon: found without epsilon and delta; allowed: only"):
        of(MODEL | {"model.on_weak_epsilon": "raise-epsilon"})
    of(MODEL | {"model.on_weak_epsilon": "raise-epsilon", "model.delta": 0.1, "model.epsilon": 0.05})


@pytest.mark.parametrize("command", ["migrate", "migrate-time"])
def test_runs_tell(tmp_path: Path, capsys: Any, command: str) -> None:
    inputs(tmp_path)
    keys = MIGRATE | {"history.tolerance": 0.01} if command == "migrate" else TIME | {"imaging.aperture": 99.0}
    assert run(capsys, command, survey(tmp_path, keys)).code == 0
    record = json.loads(next(tmp_path.glob("out/**/run.json")).read_text())
    assert sum("without effect" in note for note in record["results"]["notes"]) == 1


def test_line_source_in_3d_is_refused_by_both_migrations(tmp_path: Path, capsys: Any) -> None:
    inputs(tmp_path)
    keys = TIME | {"time_migration.y": [-10.0, 10.0, 10.0], "acquisition.conditioning": {"line_source": 1500.0}}
    done = run(capsys, "migrate-time", survey(tmp_path, keys))
    assert done.code == 2
    assert "conditioning.line_source: found with an image in 3D; allowed: only in 2D" in done.err
