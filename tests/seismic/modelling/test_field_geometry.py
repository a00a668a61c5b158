"""Modelling at the geometry of recorded gathers, or of tables: the same places, traces and headers, new samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import MODEL, NX, SPACING, call, here, survey, velocity
from index_support import index_of
from machine_support import MACHINE
from mpi4py import MPI
from segy_support import Bytes
from survey_support import model_file

from fathometer.plan.machine_file import save_machine
from fathometer.runs.journal_folder import write_fingerprint
from fathometer.runs.options import RunKind
from fathometer.runs.run_input import RunInput
from fathometer.seismic.setup.setup import prepare
from fathometer.seismic.survey import load_survey
from fathometer.storage.traces.segy import read_traces, scan

FAR = SPACING * (NX - 1)
HEADER, TEXT = 240, 3600
RECORDED = {key: value for key, value in MODEL.items() if not key.startswith(("acquisition", "propagation.duration"))}
# Shots in a streamer's shape, each receiver with its own depth, and one shot with other receivers: all decimal
# fractions that SEG-Y holds exactly.
SHOTS = {
    11: ((101.25, 12.5), [(140.0 + 9.5 * k, 15.25 + 1.75 * (k % 5)) for k in range(9)]),
    12: ((151.25, 11.0), [(190.0 + 9.5 * k, 17.75 + 1.25 * (k % 4)) for k in range(9)]),
    7: ((333.3, 21.5), [(20.5, 101.5), (311.1, 0.25), (44.75, 30.0)]),
}


def tables(folder: Path, suffix: str) -> dict[str, str]:
    """SHOTS as tables of sources and receivers; the sources with depth and elevation for z."""
    sources = {
        "shot": list(SHOTS),
        "X ": [source[0] for source, _ in SHOTS.values()],
        "depth": [source[1] - 3.5 for source, _ in SHOTS.values()],
        "elevation": [-3.5] * len(SHOTS),
        "vessel": [1, 2, 3],
    }
    rows = [(shot, k + 1, *place) for shot, (_, places) in SHOTS.items() for k, place in enumerate(places)]
    rows = rows[::2] + rows[1::2]  # shots interleaved
    receivers = {name: [row[k] for row in rows] for k, name in enumerate(("shot", "channel", "x", "z"))}
    for name, columns in (("sources", sources), ("receivers", receivers)):
        if suffix == ".parquet":
            pq.write_table(pa.table(columns), folder / f"{name}.parquet")
        else:
            lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
            (folder / f"{name}.csv").write_text("# of the navigation\n" + "\n".join(lines) + "\n")
    return {f"acquisition.{name}": f"{name}{suffix}" for name in ("sources", "receivers")}


def field_file(folder: Path, name: str, **options: Any) -> Path:
    """SHOTS as a recording that no Fathometer wrote, in a few other header words too; trace 4 is dead."""
    trace, rows = [], [(ffid, k) for ffid, (_, places) in SHOTS.items() for k in range(len(places))]
    for number, (ffid, k) in enumerate(rows):
        (x, z), places = SHOTS[ffid]
        trace.append({9: ffid, 13: 50 - k, 29: 2 if number == 4 else 1, 49: round(100 * z), 73: round(100 * x)})
        trace[-1] |= {41: round(-100 * places[k][1]), 81: round(100 * places[k][0]), 189: 1000 + number}
    every = {69: -100, 71: -100, 117: 4000, 1: 77} | options.pop("every", {})
    values = np.arange(len(rows) * 41.0).reshape(len(rows), 41)
    return Bytes(values, **{"trace": trace, "every": every} | options).write(folder / name)


def heads(path: Path, samples: int, start: int = TEXT) -> np.ndarray:
    """Headers (traces, 240) of a file of 4-byte samples."""
    return np.fromfile(path, np.uint8)[start:].reshape(-1, HEADER + 4 * samples)[:, :HEADER]


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with vp.npy and, in one/, shots modelled at the places of a table."""
    folder = tmp_path_factory.mktemp("modelled")
    np.save(folder / "vp.npy", velocity())
    keys = tables(folder, ".csv") | {"output.directory": "one"}
    done = here("model", survey(folder, MODEL | keys, "one.toml"))
    assert done.code == 0, done.err
    assert "columns vessel are not used" in done.out + done.err
    return folder


def test_tables_place_what_they_say(modelled: Path) -> None:
    table = scan(modelled / "one" / "shots.segy")
    want = [(ffid, *source, *place) for ffid, (source, places) in SHOTS.items() for place in places]
    got = np.column_stack([table.ffid, table.source[:, [0, 2]], table.receiver[:, [0, 2]]])
    np.testing.assert_array_equal(np.sort(got, axis=0), np.sort(np.array(want), axis=0))
    for ffid, (_, places) in SHOTS.items():
        own = table.ffid == ffid
        order = np.argsort(table.channel[own])
        np.testing.assert_array_equal(table.receiver[own][order][:, [0, 2]], places)
    keys = tables(modelled, ".parquet") | {"output.directory": "parquet"}
    model_file(survey(modelled, MODEL | keys, "parquet.toml"))
    names = [modelled / name / "shots.segy" for name in ("parquet", "one")]
    assert names[0].read_bytes() == names[1].read_bytes()


def test_modelling_what_was_modelled_gives_the_same_bytes_on_ranks(modelled: Path) -> None:
    keys = RECORDED | {"acquisition.gathers": "one/shots.segy", "output.directory": "again"}
    done = call("model", survey(modelled, keys, "again.toml"), "--ranks", 2, "--quiet")
    assert done.code == 0, done.err
    one, again = (modelled / name / "shots.segy" for name in ("one", "again"))
    assert read_traces(one, range(21)).any(axis=1).all()
    assert again.read_bytes() == one.read_bytes()


def test_a_plan_of_modelling_recorded_shots(modelled: Path) -> None:
    save_machine(modelled / "machine.json", MACHINE)
    path = survey(modelled, RECORDED | {"acquisition.gathers": "one/shots.segy"}, "plan.toml")
    for options, command in (([], "migrate"), (["--model"], "model")):
        done = here("plan", path, "--on", modelled / "machine.json", "--json", "-", *options)
        assert done.code == 0, done.err
        assert json.loads(done.out)["command"] == command


def test_modelling_and_migration_place_shots_alike(modelled: Path) -> None:
    keys = RECORDED | {
        "acquisition.gathers": "*/shots.segy",
        "acquisition.origin": [3.5, -1.25],
        "acquisition.azimuth": 80.0,
        "acquisition.receiver_depth": 8.5,
        "model.vp": "vp.npy",
    }
    path = survey(modelled, keys | {"acquisition.gathers": "one/shots.segy"}, "alike.toml")
    model, migrate = (prepare(load_survey(path), MPI.COMM_SELF, imaging) for imaging in (False, True))
    assert len(model.acquisition.shots) == len(SHOTS)
    for mine, theirs in zip(model.acquisition.shots, migrate.acquisition.shots, strict=True):
        for name in ("source", "receivers", "channel"):
            assert getattr(mine, name).tobytes() == getattr(theirs, name).tobytes()
        for places in ("source", "receivers"):
            points = [setup.points(getattr(shot, places)) for setup, shot in ((model, mine), (migrate, theirs))]
            for name in ("nearest", "first", "count", "weight"):
                assert getattr(points[0], name).tobytes() == getattr(points[1], name).tobytes()


FILES = {
    "SEG-Y, integers": ({"format": 3, "extended": ["more words"]}, TEXT + 3200, "segy"),
    "little-endian revision 2": ({"order": "<", "revision": (2, 0), "format": 5}, TEXT, "segy"),
    "SU": ({"order": "<", "su": True}, 0, "su"),
}


@pytest.mark.parametrize("name", FILES)
def test_headers_are_the_recorded_ones(tmp_path: Path, name: str) -> None:
    options, start, suffix = FILES[name]
    np.save(tmp_path / "vp.npy", velocity())
    path = field_file(tmp_path, f"field.{suffix}", **options)
    model_file(survey(tmp_path, RECORDED | {"acquisition.gathers": path.name}))
    new = tmp_path / "out" / f"shots.{suffix}"
    table, recorded = scan(new), scan(path)
    assert (table.samples, table.interval, table.layout.order) == (41, 0.004, recorded.layout.order)
    size = 2 if options.get("format") == 3 else 4
    before = np.fromfile(path, np.uint8)[start:].reshape(-1, HEADER + size * 41)[:, :HEADER]
    np.testing.assert_array_equal(heads(new, 41, start), before)
    for head in ("source", "receiver", "ffid", "channel", "live"):
        np.testing.assert_array_equal(getattr(table, head), getattr(recorded, head))
    sounding = read_traces(new, range(21)).any(axis=1)
    np.testing.assert_array_equal(sounding, recorded.live)
    if start:  # the file header too, but for what the samples are now
        old, mine = (np.fromfile(one, np.uint8)[:start] for one in (path, new))
        # A line that was blank says which top was modelled.
        lines = [mine[first : first + 80].tobytes() for first in range(0, TEXT, 80)]
        said = [80 * n for n, line in enumerate(lines) if "Top of the model: absorbing" in line.decode("cp037")]
        for first in said:
            assert not old[first : first + 80].tobytes().decode("cp037")[4:].strip()
            old[first : first + 80] = mine[first : first + 80]
        assert set(np.flatnonzero(old != mine)) <= {3224, 3225, *range(3268, 3272), *range(3512, 3520)}


def test_several_files_an_index_and_a_selection(tmp_path: Path) -> None:
    np.save(tmp_path / "vp.npy", velocity())
    paths = [field_file(tmp_path, "a.segy"), field_file(tmp_path, "b.su", su=True, every={9: 5})]
    for number, part in enumerate(paths):  # b has other shots: FFIDs 1000 on
        data = bytearray(part.read_bytes())
        for trace in range(21):
            at = (TEXT if number == 0 else 0) + trace * (HEADER + 164) + 8
            ffid = int.from_bytes(data[at : at + 4], "big") + 1000 * number
            data[at : at + 4] = ffid.to_bytes(4, "big")
        part.write_bytes(bytes(data))
    index_of(*paths)
    keys = RECORDED | {"acquisition.gathers": "survey.parquet", "acquisition.mute": {"velocity": 1500.0}}
    notes = " ".join(model_file(survey(tmp_path, keys)).record["results"]["notes"])
    assert "[acquisition] mute: not applied to modelled traces" in notes
    assert "2 of 42 traces of the gathers are no shot's" in notes
    whole = [tmp_path / "out" / "shots" / path.name for path in paths]
    for new, old, start in zip(whole, paths, (TEXT, 0), strict=True):
        np.testing.assert_array_equal(heads(new, 41, start), heads(old, 41, start))
    np.testing.assert_array_equal(*(read_traces(path, range(21)) for path in whole))
    # Every second shot, and shorter: only these traces, with the new number of samples; otherwise the same.
    chosen = {"acquisition.conditioning": {"shots": {"every": 2}}, "propagation.duration": 0.12}
    model_file(survey(tmp_path, keys | chosen | {"output.directory": "few"}))
    few = [tmp_path / "few" / "shots" / path.name for path in paths]
    for new, old, rows in zip(few, whole, ([*range(4), *range(5, 9), *range(18, 21)], range(9, 18)), strict=True):
        table = scan(new)
        assert table.samples == 31
        np.testing.assert_array_equal(table.receiver, scan(old).receiver[list(rows)])
        # The last samples feel the end of the run.
        got, want = (read_traces(path, traces)[:, :25] for path, traces in ((new, range(len(rows))), (old, list(rows))))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-2 * np.abs(want).max())


BAD = {
    "x,z\n1,2\nb,3\n": "sources.csv: column x: found 'b' in row 2 (from 1, below the names); allowed: numbers",
    "x,z\n1,nan\n": "column z: found nan in row 1 (from 1); allowed: finite numbers",
    "x,z,shot\n1,2,3\n5,6,3\n": "column shot: found 3 in row 1 (from 1) and again below",
    "x,z,shot\n1,2,1.5\n": "column shot: found 1.5 in row 1",
    "x,z,depth\n1,2,3\n": "column z: found with depth or elevation",
    "x\n1\n": "column z: missing; allowed: z, or depth, elevation or both",
    "z\n1\n": "column x: missing; needed: x, z (m)",
    "x,z\n": "holds no rows",
    "x,x,z\n1,2,3\n": "found two columns with the name x",
    "a,b\n1,2\n": "found the columns 'a', 'b'; known: x, y, z",
    "x,z\n1\n": "a row has fewer columns than the first line, which names 2",
    "x,z\n1,5,10,0\n": "a row has more columns than the first line, which names 2: row 1",
    "x,z,shot\n1,2,5\n": "receivers.csv: column shot: found 11 in row 1 (from 1), and in 21 rows a number",
    "x,z,shot\n" + "".join(f"{k},2,{k}\n" for k in (7, 11, 12, 13)): "column shot: found no row for shot 13",
    "x,z,shot\n-70,2,7\n1,2,11\n2,2,12\n": "lie outside the model; first: the source of shot 1 (FFID 7) at",
}


def test_headers_swapped_in_pairs_are_refused(tmp_path):
    np.save(tmp_path / "vp.npy", velocity())
    field_file(tmp_path, "pairs.segy", revision=(2, 1), pairs=True)
    done = here("model", survey(tmp_path, RECORDED | {"acquisition.gathers": "pairs.segy"}), "--quiet")
    assert done.code == 2
    assert "pairs.segy: found big-endian, bytes swapped in pairs; allowed for `model`" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", BAD)
def test_bad_tables_are_one_line(tmp_path: Path, text: str) -> None:
    np.save(tmp_path / "vp.npy", velocity())
    keys = tables(tmp_path, ".csv")
    (tmp_path / "sources.csv").write_text(text)
    done = here("model", survey(tmp_path, MODEL | keys), "--quiet")
    assert done.code == 2
    assert BAD[text] in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_other_bad_geometries(tmp_path: Path) -> None:
    np.save(tmp_path / "vp.npy", velocity())
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 and no more")
    for name, words in (
        ("damaged.parquet", "is no Parquet file"),
        ("no.csv", "no such file"),
        ("vp.npy", "found a table with the suffix '.npy'; allowed: .csv or .parquet"),
    ):
        done = here("model", survey(tmp_path, MODEL | {"acquisition.sources": name}), "--quiet")
        assert done.code == 2
        assert words in done.err
        assert len(done.err.strip().splitlines()) == 1
    (tmp_path / "out" / "journal").mkdir(parents=True)
    write_fingerprint(tmp_path / "out" / "journal", RunInput({}), RunKind("migration"))
    done = here("model", survey(tmp_path, MODEL), "--quiet")
    assert done.code == 2
    assert "[output] directory: found a migration in" in done.err
    field_file(tmp_path, "shots.segy")
    before = (tmp_path / "shots.segy").read_bytes()
    keys = RECORDED | {"acquisition.gathers": "shots.segy", "output.directory": "."}
    done = here("model", survey(tmp_path, keys), "--quiet")
    assert done.code == 2
    assert "shots.segy would replace [acquisition] gathers" in done.err
    assert (tmp_path / "shots.segy").read_bytes() == before
