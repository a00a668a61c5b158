"""[acquisition] outside: a run that leaves out what lies outside its model is one on the places inside."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import INTERVAL, MIGRATE, MODEL, NX, SAMPLES, SPACING, here, survey, velocity
from index_support import index_of

from fathometer.report.records import read_record
from fathometer.seismic.page.run_data import run_data_of
from fathometer.storage.traces.segy import GatherWriter, read_traces, scan

SHOTS = {5: 700.0, 6: 100.0, 7: 200.0}  # FFIDs and places of sources; the model ends at 390 m
DROP = {"acquisition.outside": "drop"}


def write(path: Path, ends: tuple[float, float]) -> None:
    """Shots with receivers from 100 m before to 300 m behind the source; those between the ends alone."""
    kept = [
        (ffid, source, x[(x >= ends[0]) & (x <= ends[1])])
        for ffid, source in SHOTS.items()
        if ends[0] <= source <= ends[1]
        for x in [source + SPACING * np.arange(-10, 30)]
    ]
    with GatherWriter(path, SAMPLES, INTERVAL, sum(len(x) for _, _, x in kept)) as writer:
        first = 0
        for ffid, source, x in kept:
            time = INTERVAL * np.arange(SAMPLES) - 0.05 - np.abs(x[:, None] - source) / 2000.0
            places = np.stack([x, np.zeros_like(x), np.full_like(x, 20.0)], axis=1)
            writer.write(first, ffid, (source, 0.0, 20.0), places, np.exp(-((60.0 * time) ** 2)))
            first += len(x)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("outside")
    np.save(where / "vp.npy", velocity())
    write(where / "whole.segy", (-np.inf, np.inf))
    write(where / "inside.segy", (0.0, SPACING * (NX - 1)))
    return where


def made(folder: Path, command: str, name: str, keys: dict[str, Any]) -> Any:
    done = here(command, survey(folder, keys | {"output.directory": name}, f"{name}.toml"))
    assert done.code == 0, done.err
    return done


def test_where_no_shot_is_left_dropping_is_no_advice(folder: Path) -> None:
    source = {"acquisition.sources": {"x": 5000.0, "z": 20.0}}
    done = here("model", survey(folder, MODEL | source | DROP | {"output.directory": "none"}, "far.toml"))
    assert done.code == 2
    assert 'makes a larger model; no shot is left with [acquisition] outside = "drop"' in done.err
    assert "leaves them out" not in done.err


def test_the_image_is_that_of_the_traces_inside(folder: Path) -> None:
    whole = MIGRATE | {"acquisition.gathers": "whole.segy"}
    refused = here("migrate", survey(folder, whole | {"output.directory": "none"}, "refused.toml"))
    assert refused.code == 2
    assert "1 of 3 sources and 50 of 120 receivers lie outside the model" in refused.err
    assert 'outside = "drop"' in refused.err
    done = made(folder, "migrate", "dropped", whole | DROP)
    assert "1 of 3 shots and 50 of 120 traces are left out" in done.err + done.out
    made(folder, "migrate", "inside", MIGRATE | {"acquisition.gathers": "inside.segy"})
    images = [(folder / name / "image.rsf@").read_bytes() for name in ("dropped", "inside")]
    assert images[0] == images[1]

    run = read_record(folder / "dropped")
    steps = run.record["results"]["conditioning"]
    assert {"step": "outside", "sources_outside": 1, "shots_left_out": 1, "traces_left_out": 50} in steps
    acquisition = run_data_of(run.record, run.path).acquisition()
    assert [(shot.index, shot.ffid) for shot in acquisition.shots] == [(0, 6), (1, 7)]
    first = acquisition.traces(acquisition.shots[0], np.arange(3))
    np.testing.assert_array_equal(first, read_traces(folder / "inside.segy", range(3)))
    again = here("migrate", folder / "dropped.toml", "--resume")
    assert again.code == 0, again.err


def test_modelled_traces_are_those_inside(folder: Path) -> None:
    keys = {key: value for key, value in MIGRATE.items() if not key.startswith("acquisition")}
    made(folder, "model", "modelled", keys | {"acquisition.gathers": "whole.segy"} | DROP)
    made(folder, "model", "modelled-inside", keys | {"acquisition.gathers": "inside.segy"})
    paths = [folder / name / "shots.segy" for name in ("modelled", "modelled-inside")]
    tables = [scan(path) for path in paths]
    assert tables[0].ffid.tolist() == tables[1].ffid.tolist()
    np.testing.assert_array_equal(tables[0].receiver, tables[1].receiver)
    count = len(tables[0].ffid)
    np.testing.assert_array_equal(*(read_traces(path, range(count)) for path in paths))


def test_a_spread_that_moves_off_the_model(folder: Path) -> None:
    """Its shots have the receivers that are left."""
    keys = MODEL | {
        "acquisition.sources": {"x": [100.0, 500.0, 200.0], "z": 20.0},
        "acquisition.receivers": {"x": [0.0, 200.0, 50.0], "z": 20.0, "relative": True},
    }
    made(folder, "model", "moving", keys | DROP)
    table = scan(folder / "moving" / "shots.segy")
    assert table.ffid.tolist() == [1] * 5 + [2] * 2
    assert table.receiver[:, 0].tolist() == [100, 150, 200, 250, 300, 300, 350]
    assert json.loads((folder / "moving" / "run.json").read_text())["results"]["shots"]


WRONG = {  # word of 16 bits by its first byte, four bytes in all traces: what the refusal has to name
    "elevation scalar 0": (
        {69: 0},
        {41: 5152390},
        " m with elevation scalar 0 (bytes 69-70): are elevations in m, and",
    ),
    "coordinate scalar": ({71: -32768}, {41: 5000}, "the coordinate scalar is -32768, no power of ten: coordinates"),
    "unit": ({89: 7}, {41: 5000}, "the unit of coordinates has code 7 (bytes 89-90), which no standard has"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("source", ["file", "index"])
def test_refused_places_are_told_with_what_the_headers_have_against_them(
    folder: Path, tmp_path: Path, case: str, source: str
) -> None:
    shorts, longs, words = WRONG[case]
    data = bytearray((folder / "inside.segy").read_bytes())
    length = 240 + 4 * SAMPLES
    for head in range(3600, len(data), length):
        for kind, values in (("h", shorts), ("i", longs)):
            for byte, value in values.items():
                struct.pack_into(f">{kind}", data, head + byte - 1, value)
    (tmp_path / "wrong.segy").write_bytes(data)
    np.save(tmp_path / "vp.npy", velocity())
    path = tmp_path / "wrong.segy"
    keys = MIGRATE | {"acquisition.gathers": str(path if source == "file" else index_of(path).path)}
    refused = here("migrate", survey(tmp_path, keys))
    assert refused.code == 2
    assert "receivers lie outside the model; first: " in refused.err
    [line] = refused.err.splitlines()
    assert words in line
    datum = {"time_migration.replacement_velocity": 2000.0, "time_migration.velocity": 2000.0}
    refused = here("migrate-time", survey(tmp_path, keys | datum))
    assert refused.code == 2
    assert "[time_migration] datum: found 0 m, below a receiver of shot " in refused.err
    assert words in refused.err.splitlines()[-1]
