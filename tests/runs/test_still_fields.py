"""Oceans and flows in which nothing happens: said at the end, on the page and in the record, on any number of ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import call, run
from input_values import text_of
from ocean_inputs import ocean_values
from reactive_flows import values as flow_values

from fathometer.runs.value_range import ValueRange, still_fields


def test_words_for_fields_that_are_the_same_everywhere() -> None:
    still, moving = ValueRange(35.0, 35.0), ValueRange(-1.0, 1.0)
    assert still_fields({"salinity": still, "u": moving}) == (
        ["the same everywhere at all times that were written: salinity (35)"],
        [],
    )
    assert still_fields({"salinity": still, "u": moving}, ["salinity"]) == ([], [])
    notes, doubts = still_fields({"salinity": still}, ["salinity"])
    assert (
        notes
        == doubts
        == ["nothing happens: all fields are the same everywhere at all times that were written: salinity 35"]
    )
    assert still_fields({"u": ValueRange()}) == ([], [])  # of a run that had nothing left to do


def written(folder: Path, values: dict[str, Any]) -> Path:
    path = folder / "input.toml"
    path.write_text(text_of(values), encoding="utf-8")
    return path


def told(folder: Path) -> tuple[dict[str, Any], str]:
    [record] = folder.glob("*/run.json")
    return json.loads(record.read_text()), record.with_name("report.html").read_text()


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("command", ["ocean", "reactive"])
def test_a_run_in_which_nothing_happens_says_so(tmp_path, capsys, command, ranks) -> None:
    """An ocean at rest; a water in equilibrium with itself between closed sides."""
    values = ocean_values(time__steps=3)
    if command == "reactive":
        pytest.importorskip("petsc4py")
        values = flow_values(boundary=[], flow=None, time__end=1000.0, medium__diffusivity=0.0)
        values["output"] = {"fields": ["totals"]}
    path = written(tmp_path, values)
    done = run(capsys, command, path) if ranks == 1 else call(command, path, "--ranks", ranks)
    assert done.code == 0, done.err
    assert "note: nothing happens: all fields are the same everywhere" in done.err
    record, page = told(tmp_path)
    assert record["validity"]["reasons"][0] in record["results"]["notes"]
    assert record["validity"]["reasons"][0].startswith("nothing happens")
    assert "nothing happens" in page


def test_an_ocean_with_wind_names_what_the_input_did_not_ask_for(tmp_path, capsys) -> None:
    """Salinity is the same everywhere by the input, and no note; nor is the run doubted."""
    values = ocean_values(time__steps=3, forcing__wind={"kind": "constant", "stress": [0.1, 0.0]})
    assert run(capsys, "ocean", written(tmp_path, values)).code == 0
    record, _ = told(tmp_path)
    assert not [note for note in record["results"]["notes"] if "salinity" in note]
    assert not [reason for reason in record["validity"]["reasons"] if "nothing" in reason]
