"""Files that are damaged, cut short or something else than their names say: one line of error that names them."""

from __future__ import annotations

import json
import os
import struct
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest
from cli_support import MODEL, inputs, run, survey
from index_support import found, index_of, live, rewritten, summary_of, table_of

from fathometer.base.errors import LONGEST_NAME, FathometerError, InputError
from fathometer.storage import describe as describing
from fathometer.storage import probe
from fathometer.storage.describe import describe
from fathometer.storage.index import build, seal
from fathometer.storage.index.table import METADATA_KEY, TraceIndex
from fathometer.storage.json_text import json_values
from fathometer.storage.traces.detect import layout_of
from fathometer.storage.traces.segy import read_traces
from fathometer.storage.volumes import strategy_cache
from fathometer.storage.volumes.volume import open_volume


def refused(path: Path | str, *words: str) -> None:
    """What `info` makes of a file is one line with these words."""
    with pytest.raises(InputError) as caught:
        describe(str(path), Path())
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)


# --- traces


def beginning_beyond(path: Path, offset: int) -> Path:
    """A SEG-Y of revision 2 whose first trace begins there by its header."""
    live(revision=(2, 0)).write(path)
    data = bytearray(path.read_bytes())
    data[3520:3528] = struct.pack(">Q", offset)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("offset", [2**63, 2**64 - 1, 10**6])
def test_traces_that_begin_beyond_the_file(tmp_path, offset):
    bad = beginning_beyond(tmp_path / "bad.segy", offset)
    refused(bad, "bad.segy: holds no traces", str(offset))
    index = index_of(live().write(tmp_path / "good.segy"), bad)
    assert found(index) == {"left out": 1}
    assert index.summary.usable == 6


def test_a_file_that_is_cut_short_while_it_is_indexed_is_left_out(tmp_path, monkeypatch):
    bad, good = (live(samples=1000).write(tmp_path / name) for name in ("bad.segy", "good.segy"))
    measured = build.tolerant_layout_of

    def cut(path, interval):
        layout = measured(path, interval)
        if path == bad:
            os.truncate(path, path.stat().st_size - layout.trace_bytes)
        return layout

    monkeypatch.setattr(build, "tolerant_layout_of", cut)
    monkeypatch.setattr("fathometer.storage.index.chunk.CHUNK_BYTES", 2 * (240 + 4000))  # some of its chunks are read
    index = index_of(bad, good)
    assert found(index) == {"left out": 1}
    assert [file.name for file in index.summary.files] == ["good.segy"]
    assert index.summary.usable == len(table_of(index)["trace"]) == 6


def test_traces_of_a_file_that_became_shorter_are_an_error(tmp_path):
    path = live().write(tmp_path / "a.segy")
    layout = layout_of(path)
    os.truncate(path, path.stat().st_size - layout.trace_bytes)
    assert read_traces(layout, [0, 4]).shape == (2, 4)  # those that are there
    for read in (lambda: read_traces(layout, [5]), layout.rows):
        with pytest.raises(InputError, match=r"a\.segy: became shorter since its headers were read: it has \d+ bytes"):
            read()


# --- indexes


def test_a_place_that_overflows_is_none(tmp_path):
    data = live()
    path = data.write(tmp_path / "a.segy")
    with path.open("r+b") as file:
        file.seek(3600 + 180)
        file.write(struct.pack(">d", 1e308))  # trace 0
    index = index_of(path, words=("source_x=181:f8", "coordinate_scalar=71:i2"))
    assert found(index)["no_place"] == 1
    assert np.isfinite(table_of(index)["source_x"]).all()


def test_every_byte_of_an_index_counts(tmp_path):
    path = index_of(live().write(tmp_path / "a.segy")).path
    data = path.read_bytes()
    begin = data.index(seal.KEY)  # without its seal it would be read, since there are indexes that never had one
    for place in [place for place in range(0, len(data) - 300, 97) if not begin <= place < begin + 40] + [begin + 30]:
        for bit in (1, 64):  # of a digit of the seal, too: another digit, or none
            path.write_bytes(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
            with pytest.raises(InputError, match=r"damaged|not a Parquet"):
                TraceIndex(path)
    path.write_bytes(data)
    assert TraceIndex(path).summary.usable == 6


def test_an_index_without_a_seal_is_read_by_a_child_first(tmp_path, monkeypatch):
    path = index_of(live().write(tmp_path / "a.segy")).path
    rewritten(path, sealed=False)
    assert TraceIndex(path).summary.usable == 6
    monkeypatch.setattr("fathometer.storage.index.table.PARQUET", "import os; os.abort()")
    refused(path, "survey.parquet: is damaged: SIGABRT in Arrow, which reads it")
    rewritten(path)
    assert TraceIndex(path).summary.usable == 6


def test_numbers_that_no_index_has(tmp_path):
    path = index_of(live().write(tmp_path / "a.segy")).path
    table = pq.read_table(path)
    summary = json.loads(summary_of(path))
    for key, value in (
        ("samples", 0),
        ("format", 99),
        ("start", -1),
        ("traces", 10**9),
        ("traces", 10**39),
        ("size", "x"),
    ):
        other = summary | {"files": [summary["files"][0] | {key: value}]}
        pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(other).encode()}), path)
        refused(path, "survey.parquet: its list of files: is damaged")


# --- volumes


def test_an_encrypted_archive(tmp_path):
    np.savez(tmp_path / "a.npz", vp=np.ones((3, 4)))
    data = bytearray((tmp_path / "a.npz").read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.npz").write_bytes(data)
    refused(tmp_path / "a.npz", "a.npz: is not an NPZ archive", "encrypted")


def test_an_archive_that_announces_more_than_it_holds(tmp_path):
    np.save(tmp_path / "vp.npy", np.ones((3, 4)))
    data = (tmp_path / "vp.npy").read_bytes().replace(b"(3, 4), }     ", b"(90000, 40000)}")
    data = (tmp_path / "vp.npy").read_bytes().replace(b"(3, 4), }" + b" " * 10, b"(90000, 40000), }  ")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("vp.npy", data)
    refused(tmp_path / "a.npz", "holds 96 bytes of data where the header of vp")


def test_a_name_that_no_file_has(tmp_path):
    (tmp_path / "a.rsf").write_text('in="a\0b" n1=2 n2=2')
    with pytest.raises(InputError, match=r"a\.rsf: "):
        open_volume("a.rsf", tmp_path)


def test_names_that_are_no_text(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name in (b"\xff\xfe", b"vp"):
            file.create_dataset(name, data=np.ones((3, 4), np.float32))
    refused(tmp_path / "a.h5", "needs a key", r"\xff\xfe, vp")
    assert describe(f"{tmp_path}/a.h5:vp", Path()).values.mean == 1
    assert describe(f"{tmp_path}/a.h5:\\xff\\xfe", Path()).values.mean == 1


def test_a_library_that_is_ended_by_a_file(tmp_path, monkeypatch):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("vp", data=np.ones((3, 4), np.float32))
    monkeypatch.setattr("fathometer.storage.volumes.formats.hdf5.HDF5", "import os, signal; os.kill(os.getpid(), 11)")
    refused(tmp_path / "a.h5", "a.h5: is damaged: SIGSEGV in HDF5, which reads it")


def test_the_child_imports_nothing_from_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "h5py.py").write_text("open('imported', 'w').close()\n")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("vp", data=np.ones((3, 4), np.float32))
    monkeypatch.chdir(tmp_path)
    describe("a.h5", Path())
    assert not (tmp_path / "imported").exists()


def test_a_child_that_cannot_be_had_is_no_error(tmp_path, monkeypatch):
    def none(program, path):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(probe, "child", none)
    (tmp_path / "a").write_text("")
    probe.probe(tmp_path / "a", probe.HDF5, "HDF5")


def test_a_child_that_computes_without_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "LONGEST_CPU", (1, 1e-6))
    (tmp_path / "a").write_bytes(bytes(10))
    with pytest.raises(InputError, match=r"/a: is damaged: no end within 2 s of computing in HDF5, which reads it"):
        probe.probe(tmp_path / "a", "while True:\n    pass", "HDF5")


def test_files_probed_together_take_one_child_unless_one_of_them_ends_it(tmp_path, monkeypatch):
    paths = [tmp_path / name for name in ("a", "b", "c")]
    calls = []

    def child(program, *names):
        calls.append(len(names))
        return (-11 if str(bad) in names else 0), ""

    for path in paths:
        path.write_text("")
    monkeypatch.setattr(probe, "child", child)
    bad = None
    probe.probe_together(paths, probe.HDF5, "HDF5")
    assert calls == [3]
    bad = paths[1]
    with pytest.raises(InputError, match=r"/b: is damaged: SIGSEGV in HDF5, which reads it"):
        probe.probe_together(paths, probe.HDF5, "HDF5")
    assert calls == [3, 3, 1, 1]
    probe.probe_together([], probe.HDF5, "HDF5")


def test_a_file_that_is_none_hides_no_other_from_the_child(tmp_path):
    """The child of many files goes on past one that HDF5 refuses."""
    (tmp_path / "a").write_text("no HDF5")
    program = probe.HDF5.replace(
        "    try:\n        look(path)", "    print(path, file=sys.stderr)\n    try:\n        look(path)"
    )
    code, said = probe.child(program, str(tmp_path / "a"), str(tmp_path / "b"))
    assert (code, said.split()) == (0, [str(tmp_path / "a"), str(tmp_path / "b")])


def test_most_of_an_empty_volume_is_not_read(tmp_path, monkeypatch):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("vp", (10**4,) * 3, np.float32, chunks=(64,) * 3, fillvalue=-1.0)[0, 0, :10] = 7.0
    read = []
    monkeypatch.setattr(describing, "SAMPLED_VALUES", 1 << 20)
    monkeypatch.setattr(describing, "SLAB_VALUES", 1 << 16)
    monkeypatch.setattr(describing, "PROGRESS_SECONDS", -1.0)
    description = describe(f"{tmp_path}/a.h5", Path(), say=read.append)
    assert (description.values.minimum, description.values.maximum) == (7.0, 7.0)
    assert description.values.nan > 1000
    note, same, fill = description.notes
    assert same == "all finite values that were read are 7"
    assert fill == "counted as NaN, where -1 stands for missing data"
    assert "of 1000000000000 values were read, spread evenly" in note
    assert int(note.split()[0]) <= 2 * describing.SAMPLED_VALUES
    assert read[-1].endswith("a.h5: 100 % of 4 TB")
    assert len(read) <= 32


@pytest.mark.parametrize("shape", [(7, 5, 3), (1, 40), (40, 1, 1), (3, 100), (100, 3)])
def test_all_of_a_full_volume_is_read(tmp_path, monkeypatch, shape):
    monkeypatch.setattr(describing, "SLAB_VALUES", 8)
    values = np.random.default_rng(1).normal(size=shape)
    np.save(tmp_path / "a.npy", values)
    found = describe("a.npy", tmp_path).values
    assert (found.minimum, found.maximum) == (values.min(), values.max())
    assert found.mean == pytest.approx(values.mean())


# --- texts


DAMAGED = [
    *("", "[]", "null", "{", '{"schema_version": 1}', '{"schema_version": 1, "winners": 5}', "[" * 100_000),
    *(
        json.dumps({"schema_version": 1, "winners": [{"mount": "/", "format": "RSF", "operation": "read", **one}]})
        for one in (
            {},
            {"strategy": "root-broadcast"},
            *(
                {"strategy": "root-broadcast", "type": "x", "ranks": 1, "host": "h", **bad}
                for bad in (
                    {"bytes_per_second": "fast", "date": "2026"},
                    {"bytes_per_second": 10**400, "date": "2026"},
                    {"bytes_per_second": 1.0, "date": 5},
                    {"bytes_per_second": 1.0, "date": "2026", "mount": {}},
                )
            ),
        )
    ),
]


@pytest.mark.parametrize("text", DAMAGED)
def test_remembered_strategies_that_are_damaged_are_none(tmp_path, monkeypatch, text):
    monkeypatch.setattr(strategy_cache, "cache_path", lambda: tmp_path / "storage.json")
    (tmp_path / "storage.json").write_text(text)
    assert strategy_cache.winners() == []
    assert strategy_cache.winner_for(tmp_path / "a.rsf", "RSF", "read") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1" + "0" * 39, "beyond an integer of 64 bits"),
        ("-" + "9" * 5000, "beyond an integer of 64 bits"),
        ("1e400", "beyond a number of 64 bits"),
        ("NaN", "no number of JSON"),
        ("-Infinity", "no number of JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_numbers_that_64_bits_do_not_hold(text, words):
    with pytest.raises(ValueError, match=words):
        json_values(text)
    assert json_values("[18446744073709551615, -9223372036854775808, 1e308]") == [2**64 - 1, -(2**63), 1e308]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (
            "acquisition.sample_interval",
            1e308,
            "[acquisition] sample_interval: found 1e+308; allowed: magnitudes up to 1e+18",
        ),
        ("model.spacing", [1e32, 10.0], "[model] spacing: found 1e+32; allowed: magnitudes up to 1e+18"),
        ("model.spacing", [1e9, 10.0], "[model] spacing: found [1000000000.0, 10.0]; allowed: a list"),
        ("propagation.order", 10**39, "[propagation] order: found 1" + "0" * 39 + "; allowed: magnitudes up to 1e+18"),
        ("model.vp", "a\0b", "[model] vp"),
    ],
)
def test_numbers_and_names_of_a_survey_that_nothing_has(tmp_path, capsys, key, value, words):
    inputs(tmp_path)
    done = run(capsys, "model", survey(tmp_path, MODEL | {key: value}), "--quiet")
    assert done.code == 2
    assert words in done.err
    assert len(done.err.splitlines()) == 1


def test_messages_are_one_short_line():
    long = InputError(f"/a/{'x' * 5000}: found {'y' * 201}\0\x1b[31m\nand more")
    assert [len(word) for word in str(long).split()] == [LONGEST_NAME, 5, LONGEST_NAME, 3, 4]
    assert str(long).startswith("/a/xxx")
    assert "\\x1b[31m and more" in str(InputError("\x1b[31m\nand more"))
    assert str(FathometerError(long)) == str(long)  # on its way between ranks it is made anew
    assert len(str(InputError("word " * 10_000))) <= 2000
