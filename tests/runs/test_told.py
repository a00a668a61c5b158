"""Notes of one survey are told in full once a day, by whatever command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import MIGRATE, MODEL, here, inputs, survey

from fathometer.runs import told

NOTE = "waves will be dispersed"
FEW = {"wavelet.peak_frequency": 30.0}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fathometer" / "notes.json"


def test_once_a_day_for_each_file(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    assert told.note_lines(["a", "b"], one) == ["note: a", "note: b"]
    monkeypatch.chdir(tmp_path)
    assert told.note_lines(["a", "c"], Path("one.toml"), "see x") == ["note: c", "note: 1 note as told before; see x"]
    assert told.note_lines(["a"], two) == ["note: a"]
    assert told.note_lines([], one) == []
    now = told.time.time()
    monkeypatch.setattr(told.time, "time", lambda: now + told.DAY + 1)
    assert told.note_lines(["a"], one) == ["note: a"]
    assert len(json.loads(cache.read_text())) == 1  # the older ones are forgotten


@pytest.mark.parametrize("content", ["", "[1]", '{"a": []}', "\x00"])
def test_a_damaged_file_is_none(tmp_path: Path, cache: Path, content: str) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text(content)
    assert told.note_lines(["a"], tmp_path) == ["note: a"]
    assert told.note_lines(["a"], tmp_path)[0].startswith("note: 1 note as told before")


def test_where_nothing_can_be_kept_all_is_told(tmp_path: Path, cache: Path) -> None:
    cache.parent.parent.write_text("no folder")
    for _ in range(2):
        assert told.note_lines(["a"], tmp_path) == ["note: a"]


def test_commands_of_one_survey(tmp_path: Path, cache: Path) -> None:
    inputs(tmp_path)
    path = survey(tmp_path, MIGRATE | FEW)
    quiet = here("migrate", path, "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    first = here("migrate", path, "--overwrite")
    assert NOTE in first.err
    again = here("migrate", path, "--resume")
    assert again.code == 0
    assert NOTE not in again.err
    assert "as told before; all are in the record, results.notes" in again.err
    record = json.loads(next(tmp_path.rglob("run.json")).read_text())
    assert any(NOTE in note for note in record["results"]["notes"])
    other = here("model", survey(tmp_path, MODEL | FEW | {"output.directory": "shots"}, "other.toml"))
    assert NOTE in other.err
