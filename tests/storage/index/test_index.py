"""The index of a survey: what is read from files of any kind, what is found wrong with them, and what it refuses."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import segyio
from hypothesis import given, settings
from hypothesis import strategies as st
from index_support import found, index_of, live, table_of
from segy_support import INT24, TYPES, Bytes

from fathometer import _native
from fathometer.base.errors import InputError
from fathometer.storage.index import build, summary
from fathometer.storage.index.anomalies import UNUSABLE, Flag
from fathometer.storage.index.duplicates import repeated
from fathometer.storage.index.table import COLUMNS, TraceIndex
from fathometer.storage.index.words import DEFAULTS, word_of, words_of
from fathometer.storage.index.words import TYPES as WORD_TYPES
from fathometer.storage.traces.detect import layout_of
from fathometer.storage.traces.segy import decode_traces, read_traces, scan

FLOATS = (1, 5, 6)


def same_as_scan(index: TraceIndex, path: Path, number: int = 0) -> None:
    """The rows of a file are what `scan` says of it."""
    table, rows = scan(path), table_of(index)
    mine = rows["file"] == number
    for what in ("source", "receiver"):
        places = np.stack([rows[f"{what}_{axis}"][mine] for axis in "xyz"], axis=1)
        np.testing.assert_array_equal(places, getattr(table, what))
    np.testing.assert_array_equal(rows["shot"][mine], table.ffid)
    np.testing.assert_array_equal(rows["channel"][mine], table.channel)
    np.testing.assert_array_equal(rows["trace"][mine], np.arange(len(table.ffid)))
    np.testing.assert_array_equal(rows["flags"][mine] & Flag.DEAD == 0, table.live)
    assert set(rows["interval"][mine]) == {table.interval}
    assert set(rows["samples"][mine]) == {table.samples}
    assert set(rows["delay"][mine]) == {table.delay}


# --- formats and byte orders


@pytest.mark.parametrize("order", "><")
@pytest.mark.parametrize("code", [1, *INT24, *TYPES])
def test_every_format_in_both_byte_orders(tmp_path, code, order):
    data = live(format=code, order=order, revision=(2, 0) if code > 8 else (1, 0))
    path = data.write(tmp_path / "a.segy")
    index = index_of(path)
    assert found(index) == {}
    same_as_scan(index, path)
    (layout,) = index.layouts()
    np.testing.assert_array_equal(decode_traces(layout, [4, 0]), data.values[[4, 0]])


@pytest.mark.parametrize("options", [{"additional": 2}, {"pairs": True}, {"pairs": True, "format": 8}], ids=str)
def test_dialects_of_revision_2(tmp_path, options):
    data = live(revision=(2, 1), **options)
    data.values[4] = 0
    path = data.write(tmp_path / "a.segy")
    index = index_of(path)
    assert found(index) == {"zero": 1}
    rows = table_of(index)
    assert rows["flags"].tolist() == [0, 0, 0, 0, Flag.ZERO, 0]
    same_as_scan(index, path)
    (layout,) = index.layouts()
    np.testing.assert_array_equal(decode_traces(layout, [5, 0]), data.values[[5, 0]])


@pytest.mark.parametrize("options", [{}, {"order": "<"}, {"pairs": True}], ids=str)
def test_the_extension_of_a_header_holds_where_it_is_not_zero(tmp_path, options):
    """64-bit numbers and floats without scalar; elsewhere, and where the user chose another word, the first header."""
    data = live(revision=(2, 1), additional=1, **options)
    data.every |= {71: -10, 69: -10, 41: -300, 49: 60}
    wide = [{17: ("q", 5_000_000_000 + k // 3), 97: ("d", 1234.5625), 113: ("d", 2000.25 + k)} for k in range(5)]
    wide[0] |= {33: ("d", -31.5), 41: ("d", 2.0), 57: ("d", 6.25), 121: ("d", float("nan"))}
    data.extension = [*wide, {}]
    path = data.write(tmp_path / "a.segy")
    index = index_of(path)
    same_as_scan(index, path)
    rows = table_of(index)
    assert rows["shot"].tolist() == [5_000_000_000] * 3 + [5_000_000_001] * 2 + [2]
    assert rows["source_x"].tolist() == [1234.5625] * 5 + [20.0]
    assert rows["receiver_x"].tolist() == [2000.25, 2001.25, 2002.25, 2003.25, 2004.25, 23.0]
    assert rows["receiver_y"].tolist() == [0.7] * 6
    assert rows["source_z"].tolist() == [6.25] + [6.0] * 5
    assert rows["receiver_z"].tolist() == [33.5] + [30.0] * 5
    chosen = table_of(index_of(path, words=("source_x=73:u4",)))
    assert chosen["source_x"].tolist() == [10.0] * 3 + [20.0] * 3
    assert chosen["receiver_x"][0] == 2000.25


@pytest.mark.parametrize("interval", [0, 2000])
def test_an_interval_that_is_asked_for_is_no_anomaly(tmp_path, interval):
    """Traces that say another interval, or none, are used with that which was asked for, and it is told."""
    path = live(interval=interval, every={117: 0 if interval == 0 else 4000}).write(tmp_path / "a.segy")
    assert found(index_of(path)) == ({"no_interval": 6} if interval == 0 else {"headers": 1, "interval": 6})
    index = index_of(path, strict=True, interval=0.001)
    assert (index.summary.usable, found(index)) == (6, {})
    assert set(table_of(index)["interval"]) == {0.001}
    says = "none that is positive" if interval == 0 else "2000 µs"
    note = f"{path}: the sample interval is taken as 1000 µs, as was asked for; the headers say {says}"
    assert index.summary.notes == (note,)


VELOCITIES = {  # headers of trace k of a volume
    "inlines": lambda k: {189: 1 + k // 3, 193: 1 + k % 3},
    "cells": lambda k: {73: 25 * k, 77: 7, 81: 25 * k, 85: 7, 9: k + 1},
    "cells as sources alone": lambda k: {73: 25 * k, 9: k + 1},
    "CDP coordinates": lambda k: {181: 25 * k, 185: 5},
}


@pytest.mark.parametrize("header", VELOCITIES.values(), ids=VELOCITIES)
def test_a_volume_is_told_at_once(tmp_path, header):
    trace = [{9: 1, 13: k + 1, 29: 1} | header(k) for k in range(6)]
    path = live(trace=trace).write(tmp_path / "vp.segy")
    other = live().write(tmp_path / "shots.segy")
    said: list[str] = []
    index = index_of(path, other, said=said)
    assert [line for line in said if line.startswith(f"looks like a volume: {path}: ")] == said[:1]
    assert found(index)["volume"] == 1
    with pytest.raises(InputError, match=rf"{path}: .*files that look like a volume .*; --strict"):
        index_of(other, path, strict=True)


@pytest.mark.parametrize(
    "header",
    [lambda k: {}, lambda k: {73: 5, 81: 5, 41: -k}, lambda k: {73: 5, 81: 25 * k}, lambda k: {37: 25 * k}],
    ids=["no geometry", "a vertical profile", "a spread", "offsets alone"],
)
def test_gathers_are_no_volume(tmp_path, header):
    trace = [{9: 1, 13: k + 1, 29: 1} | header(k) for k in range(6)]
    assert "volume" not in found(index_of(live(trace=trace).write(tmp_path / "a.segy")))


@pytest.mark.parametrize("order", "><")
@pytest.mark.parametrize("name", ["a.su", "a.segy"])
def test_su_in_both_byte_orders_and_by_any_name(tmp_path, name, order):
    data = live(order=order, su=True)
    path = data.write(tmp_path / name)
    index = index_of(path)
    assert found(index) == {}
    assert index.summary.files[0].kind == "SU"
    np.testing.assert_array_equal(decode_traces(index.layouts()[0], range(6)), data.values)
    if name == "a.su":
        same_as_scan(index, path)


def test_an_su_trace_has_its_own_interval(tmp_path):
    data = live(su=True)
    data.trace[2][117], data.trace[3][117], data.trace[4][117] = 2000, 0, -4
    index = index_of(data.write(tmp_path / "a.su"))
    assert table_of(index)["interval"].tolist() == [0.004, 0.004, 0.002, 0.004, 0.0, 0.004]
    assert found(index) == {"no_interval": 1}
    assert [(one.interval, one.traces) for one in index.summary.samplings] == [(0.004, 4), (0.002, 1)]


@pytest.mark.parametrize("count", [257, 4])
def test_the_byte_order_of_su_where_the_sample_count_does_not_tell(tmp_path, count):
    # 257 is the same number in both byte orders, and 4112 µs too.
    for order in "<>":
        data = live(samples=count, order=order, su=True, every={117: 4112})
        for number, fields in enumerate(data.trace):
            fields[1] = number + 1
        assert layout_of(data.write(tmp_path / "a.su")).order == order


@settings(max_examples=60)
@given(st.data())
def test_any_headers_come_back_as_scan_reads_them(tmp_path_factory, data):
    word, short = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**15), 2**15 - 1)
    fields = {
        **{first: word for first in (9, 13, 41, 45, 49, 73, 77, 81, 85)},
        **{first: short for first in (29, 69, 71)},
    }
    heads = data.draw(st.lists(st.fixed_dictionaries(fields), min_size=1, max_size=5))
    every = {89: 1, 109: data.draw(short), 215: data.draw(short)}
    feet, order = data.draw(st.booleans()), data.draw(st.sampled_from("<>"))
    revision = data.draw(st.sampled_from([(0, 0), (1, 0)]))
    values = np.arange(1.0, 1 + 3 * len(heads)).reshape(-1, 3)
    made = Bytes(values, 5, order, feet=feet, revision=revision, every=every, trace=heads)
    path = made.write(tmp_path_factory.mktemp("any") / "a.segy")
    same_as_scan(index_of(path), path)


# --- real files

READABLE = [
    *("f3.sgy", "f3-lsb.sgy", "shot-gather.sgy", "small.sgy", "small-lsb.sgy", "small-ps.sgy"),
    *("small-ps-dec-il-xl-off.sgy", *(f"multiformats/Format{code}{order}.sgy" for code in (1, 5, 7, 9)
                                      for order in ("msb", "lsb"))),
]  # fmt: skip


@pytest.mark.parametrize("name", READABLE)
def test_variants_are_indexed_as_they_are_scanned(shared_data, tmp_path, name):
    path = tmp_path / Path(name).name
    path.symlink_to(shared_data / "segy_variants" / name)
    index = index_of(path)
    same_as_scan(index, path)
    every = range(index.summary.traces)
    np.testing.assert_array_equal(read_traces(index.layouts()[0], every), read_traces(path, every))


def test_su_of_others(shared_data, tmp_path):
    path = tmp_path / "small.su"
    path.symlink_to(shared_data / "segy_variants" / "small.su")
    index = index_of(path)
    # Its inlines and crosslines are a grid: it is a volume indeed.
    assert found(index) == {"no_interval": 25, "no_coordinates": 25, "volume": 1}
    with segyio.su.open(shared_data / "segy_variants" / "small.su", ignore_geometry=True, endian="big") as file:
        np.testing.assert_array_equal(decode_traces(index.layouts()[0], range(25)), file.trace.raw[:])


def test_files_that_are_none_are_left_out_of_many(shared_data, tmp_path):
    folder = shared_data / "segy_variants"
    bad = [folder / name for name in ("broken.sgy", "text.sgy", "License.md", "multiformats/Format4msb.sgy")]
    link = tmp_path / "a.sgy"
    link.symlink_to(folder / "small-ps.sgy")
    said = []
    index = build.build_index([*bad, link], tmp_path / "i.parquet", words_of([]), 2, False, said.append)
    assert found(index)["left out"] == 4
    assert [Path(one.name).name for one in index.summary.files] == ["small-ps.sgy"]
    assert len(said) == 4
    for path, line in zip(bad, said, strict=True):
        assert line.startswith(f"left out: {path}: ")
        with pytest.raises(InputError, match=path.name):
            build.build_index([path], tmp_path / "i.parquet", words_of([]), 2, False, str)
        with pytest.raises(InputError, match=path.name):
            build.build_index([link, path], tmp_path / "i.parquet", words_of([]), 2, True, str)


def test_field_shots(shared_data, tmp_path):
    path = tmp_path / "viking.segy"
    path.symlink_to(shared_data / "viking_graben" / "viking_small.segy")
    index = index_of(path)
    same_as_scan(index, path)
    assert found(index) == {"headers": 1, "units": 1, "samples": 480}
    assert (index.summary.shots, index.summary.traces, index.summary.usable) == (4, 480, 480)
    rows = table_of(index)
    assert (rows["offset"].min(), rows["offset"].max()) == (262, 3237)


# --- anomalies


def changed(**fields):
    """A change of the header of trace 3."""

    def change(data):
        data.trace[3] |= {int(name[1:]): value for name, value in fields.items()}

    return change


def sample(value, **options):
    """A change of sample 2 of trace 3."""

    def change(data):
        for name, one in options.items():
            setattr(data, name, one)
        data.values[3, 2] = value

    return change


def silent(data):
    data.values[3] = -0.0


def twice(data):
    data.trace[3] = dict(data.trace[1])


ANOMALIES = {
    "dead": (changed(_29=2), "dead", "trace identification code 2"),
    "silent": (silent, "zero", ""),
    "NaN": (sample(np.nan), "no_number", ""),
    "infinity": (sample(-np.inf, order="<"), "no_number", ""),
    "NaN in doubles": (sample(np.nan, format=6), "no_number", ""),
    "beyond float32": (sample(1e39, format=6), "no_number", ""),
    "beyond float32, IBM": (sample(1e39, format=1), "no_number", ""),
    "twice": (twice, "duplicate", ""),
    "sample count": (changed(_115=9), "samples", "9 samples, 4 in the file"),
    "interval": (changed(_117=2000), "interval", "2000 µs, 4000 µs in the file"),
}


@pytest.mark.parametrize(("change", "key", "what"), ANOMALIES.values(), ids=ANOMALIES)
def test_an_anomaly_is_counted_flagged_and_refused_if_strict(tmp_path, change, key, what):
    data = live()
    change(data)
    path = data.write(tmp_path / "a.segy")
    index = index_of(path)
    assert found(index) == {key: 1}
    flags = table_of(index)["flags"]
    assert np.flatnonzero(flags).tolist() == [3]
    assert flags[3] == Flag[key.upper()]
    left_out = Flag[key.upper()] in UNUSABLE
    assert left_out == (key not in ("samples", "interval"))
    assert index.summary.usable == 6 - left_out
    where = f"{path}: trace 3 (of 6, from 0)"
    assert index.summary.anomalies[0].first == where + (f": {what}" if what else "")
    with pytest.raises(InputError) as caught:
        index_of(path, strict=True)
    assert str(caught.value).startswith(where)
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("kinds", "notes"), [((11, 12), 1), ((1, 12), 0), ((11, 14), 0)])
def test_sensors_of_two_kinds_are_told(tmp_path, kinds, notes):
    data = live()
    changed(_29=kinds[0])(data)
    path = data.write(tmp_path / "a.segy")
    other = live()
    for head in other.trace:
        head |= {9: head[9] + 100, 29: kinds[1]}
    index = index_of(path, other.write(tmp_path / "b.segy"))
    assert [note.startswith(f"{tmp_path / 'b.segy'}: holds traces of vertical") for note in index.summary.notes] == (
        [True] * notes
    )


def test_the_largest_ibm_floats_of_float32_are_numbers(tmp_path):
    data = live(format=1)
    largest = (2.0**24 - 1) * 2.0**104
    data.values[3, 2] = largest
    path = data.write(tmp_path / "a.segy")
    assert found(index_of(path)) == {"loud": 1}
    assert read_traces(path, [3])[0, 2] == np.float32(largest)


def test_unnormalised_ibm_floats_beyond_the_exponents_of_float32(tmp_path):
    data = live(format=1)
    path = data.write(tmp_path / "a.segy")
    raw = bytearray(path.read_bytes())
    # 0.0f 16^33 fits into float32, 0.f 16^33 does not.
    for word, count, what in ((0x610FFFFF, 0, {"loud": 1}), (0x61FFFFFF, 1, {"no_number": 1}), (0x7F000000, 0, {})):
        struct.pack_into(">I", raw, 3600 + 3 * 256 + 240 + 8, word)
        path.write_bytes(raw)
        assert np.isinf(decode_traces(layout_of(path), [3])).sum() == count
        assert found(index_of(path)) == what


def test_a_good_copy_is_kept_where_the_first_is_bad(tmp_path):
    data = live()
    twice(data)
    data.values[1] = np.nan
    index = index_of(data.write(tmp_path / "a.segy"))
    assert found(index) == {"no_number": 1}


def test_duplicates_across_files_and_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("fathometer.storage.index.chunk.CHUNK_BYTES", 600)
    monkeypatch.setattr("fathometer.storage.index.table.GROUP_ROWS", 4)
    paths = [live(shots=5).write(tmp_path / f"{name}.segy") for name in "ab"]
    index = index_of(*paths)
    assert found(index) == {"duplicate": 15}
    assert index.summary.anomalies[0].first == f"{paths[1]}: trace 0 (of 15, from 0)"
    rows = table_of(index)
    np.testing.assert_array_equal(rows["file"], np.repeat([0, 1], 15))
    np.testing.assert_array_equal(rows["trace"], np.tile(np.arange(15), 2))
    np.testing.assert_array_equal(rows["flags"], np.repeat([0, Flag.DUPLICATE], 15))
    np.testing.assert_array_equal(rows["shot"], np.tile(np.repeat(np.arange(1, 6), 3), 2))


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.booleans()), max_size=30))
def test_repeated_rows_are_all_but_the_first_sound_one(triples):
    keys = [key for key, _, _ in triples]
    rows = np.flatnonzero([chosen for _, chosen, _ in triples])
    lesser = np.array([less for _, chosen, less in triples if chosen], bool)
    # The first mark alone does not tell them apart.
    marks, others = np.array(keys, np.uint64) // np.uint64(3), np.array(keys, np.uint64)
    ordered = [*rows[~lesser], *rows[lesser]]
    expected = sorted(row for place, row in enumerate(ordered) if keys[row] in [keys[one] for one in ordered[:place]])
    parts = [[one[:7], one[7:]] for one in (marks, others)]
    assert repeated(rows, lesser, *parts).tolist() == expected


def test_a_trace_without_an_interval_hides_no_sound_copy(tmp_path):
    paths = [live(interval=one, every={117: one}).write(tmp_path / f"{one}.segy") for one in (0, 4000)]
    index = index_of(*paths)
    assert index.summary.usable == 6
    assert table_of(index)["flags"].tolist() == [Flag.NO_INTERVAL | Flag.DUPLICATE] * 6 + [0] * 6


@pytest.mark.parametrize("size", [1, 100, 255])
@pytest.mark.parametrize("kind", ["SEG-Y", "SU"])
def test_a_truncated_last_trace(tmp_path, kind, size):
    data = live(su=kind == "SU")
    path = data.write(tmp_path / ("a.su" if data.su else "a.segy"))
    path.write_bytes(path.read_bytes()[: -256 + size])
    index = index_of(path)
    assert found(index) == {"truncated": 1}
    assert f"{size} of 256 bytes behind trace 4" in index.summary.anomalies[0].first
    assert index.summary.usable == 5
    np.testing.assert_array_equal(decode_traces(index.layouts()[0], [4]), data.values[[4]])
    for refuse in (lambda: scan(path), lambda: index_of(path, strict=True)):
        with pytest.raises(InputError, match=r"truncated|end within a trace"):
            refuse()


@pytest.mark.parametrize("interval", [0, -2000])
def test_no_positive_interval_in_the_file(tmp_path, interval):
    data = live(interval=interval)
    data.trace[0][117], data.trace[4][117] = 0, -1
    index = index_of(data.write(tmp_path / "a.segy"))
    assert table_of(index)["interval"].tolist() == [0, 0.004, 0.004, 0.004, 0, 0.004]
    assert found(index) == {"no_interval": 2}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 9}, "the binary header says 9, the first trace's 4; the file's size fits 4"),
        ({"interval": 2000}, "2000 µs in the binary header, 4000 µs in the first trace's; the binary header's is used"),
    ],
)
def test_headers_of_a_file_that_contradict_each_other(tmp_path, options, words):
    data = live()
    for name, value in options.items():
        setattr(data, name, value)
    path = data.write(tmp_path / "a.segy")
    index = index_of(path)
    assert found(index)["headers"] == 1
    assert index.summary.anomalies[0].first.startswith(f"{path}: sample ")
    assert words in index.summary.anomalies[0].first
    with pytest.raises(InputError, match=r"headers contradict each other; --strict"):
        index_of(path, strict=True)


def test_no_coordinates(tmp_path):
    bare = live()
    for fields in bare.trace:
        for first in (73, 77, 81, 85):
            fields[first] = 0
    paths = bare.write(tmp_path / "a.segy"), live().write(tmp_path / "b.segy")
    index = index_of(*paths)
    assert found(index) == {"no_coordinates": 6}
    assert table_of(index)["flags"].tolist() == [Flag.NO_COORDINATES] * 6 + [0] * 6
    assert index.summary.usable == 6
    with pytest.raises(InputError, match=r"a.segy: every source and receiver is at the origin"):
        index_of(*paths, strict=True)


def test_a_source_that_moves(tmp_path):
    data = live()
    data.trace[5][73] = 777
    index = index_of(data.write(tmp_path / "a.segy"))
    assert found(index) == {"moves": 1}
    assert "trace 5" in index.summary.anomalies[0].first
    assert "(777, 7, 0) m, but at (200, 7, 0) m before" in index.summary.anomalies[0].first
    other = live()
    other.trace[0][77] = 8
    assert found(index_of(live().write(tmp_path / "a.segy"), other.write(tmp_path / "b.segy"))) == {
        "duplicate": 5,
        "moves": 1,
    }


def test_angles_are_refused_with_an_explanation(tmp_path):
    angles = live(every={89: 2, 117: 4000}).write(tmp_path / "a.segy")
    with pytest.raises(InputError, match=r"a.segy: coordinates are declared as arc seconds .* project them to metres"):
        index_of(angles)
    assert not (tmp_path / "survey.parquet").exists()
    index = index_of(angles, live().write(tmp_path / "b.segy"))
    assert found(index) == {"left out": 1}
    rows = table_of(index)
    assert (len(rows["shot"]), set(rows["file"])) == (6, {0})
    assert [one.name for one in index.summary.files] == ["b.segy"]


def test_words_that_are_no_numbers(tmp_path):
    path = live().write(tmp_path / "a.segy")
    raw = bytearray(path.read_bytes())
    struct.pack_into(">f", raw, 3600 + 2 * 256 + 180, np.nan)
    path.write_bytes(raw)
    index = index_of(path, words=("receiver_x=181:f4",))
    assert found(index) == {"no_place": 1}
    struct.pack_into(">f", raw, 3600 + 2 * 256 + 180, 2.5)
    path.write_bytes(raw)
    assert found(index_of(path, words=("receiver_x=181:f4",))) == {}
    assert found(index_of(path, words=("channel=181:f4",))) == {"no_place": 1}


# --- header words


def test_equal_numbers_in_different_files_are_different_shots(tmp_path):
    """Two swaths whose shots are 1 and 2 in both, the second one 1 km away; a number that is too large."""
    paths = []
    for number, name in enumerate("ab"):
        data = live()
        for head in data.trace:
            head |= {73: head[73] + 1000 * number, 81: head[81] + 1000 * number}
        data.trace[5] |= {9: 1_000_000}
        paths.append(data.write(tmp_path / f"{name}.segy"))
    assert "moves" in found(index_of(*paths))
    apart = index_of(*paths, words=("shot=file+9:i4",))
    assert apart.summary.words["shot"] == "file+9:i4"
    assert found(apart) == {"no_place": 2}
    shots = table_of(apart)["shot"][table_of(apart)["flags"] == 0]
    assert np.unique(shots).tolist() == [1000001, 1000002, 2000001, 2000002]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("9:i4", "9:i4"),
        ("FieldRecord", "9:i4"),
        ("fieldrecord", "9:i4"),
        ("EnergySourcePoint", "17:i4"),
        ("SourceGroupScalar", "71:i2"),
        ("TRACE_SAMPLE_COUNT", "115:u2"),
        ("ShotPoint", "197:i4"),
        ("ShotPointScalar", "201:i2"),
        ("233:f8", "233:f8"),
        ("240:u1", "240:u1"),
        ("none", "none"),
    ],
)
def test_ways_to_name_a_word(text, word):
    assert str(word_of(text, "")) == word


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("source_x", "allowed: NAME=WORD, NAME one of shot, channel, source_x"),
        ("source=9:i4", "did you mean source_"),
        ("shot=", "nothing is no word; allowed: BYTE:TYPE such as 9:i4"),
        ("shot=FieldRekord", "did you mean FieldRecord?"),
        ("shot=9:i3", "found type i3; allowed: i1, u1, i2"),
        ("shot=0:i4", "found byte 0; allowed for i4: 1 to 237"),
        ("channel=file+13:i4", "file+13:i4"),
        ("shot=file+", "nothing is no word"),
        ("shot=238:i4", "found byte 238; allowed for i4: 1 to 237"),
        ("shot=-9:i4", "found byte -9"),
    ],
)
def test_words_that_are_refused(said, words):
    with pytest.raises(InputError) as caught:
        words_of([said])
    assert words in str(caught.value)


@pytest.mark.parametrize("order", "><")
@pytest.mark.parametrize("kind", WORD_TYPES)
def test_every_type_of_word(kind, order):
    random = np.random.default_rng(5)
    rows = random.integers(0, 127 if kind[0] == "f" else 256, (50, 244), np.uint8)  # no NaN: its bits need not survive
    places = np.array([0, 7, 240 - np.dtype(kind).itemsize], np.int64)
    words = np.empty((3, 50))
    number = np.full(3, WORD_TYPES.index(kind), np.int32)
    _native.trace_words(rows, order == "<", places, number, words)
    for place, found_there in zip(places, words, strict=True):
        part = np.ascontiguousarray(rows[:, place : place + np.dtype(kind).itemsize])
        expected = part.view(np.dtype(kind).newbyteorder(order))[:, 0].astype(float)
        np.testing.assert_array_equal(found_there, expected)


def test_words_in_other_places(tmp_path):
    data = live()
    for number, fields in enumerate(data.trace):
        fields |= {17: 50 + number, 181: 12345 + number, 71: -100, 201: 9 << 16, 205: 33}
    path = data.write(tmp_path / "a.segy")
    said = ("shot=EnergySourcePoint", "receiver_x=181:i4", "coordinate_scalar=none", "channel=201:i2")
    rows = table_of(index_of(path, words=(*said, "receiver_depth=205:i4")))
    assert rows["shot"].tolist() == [50, 51, 52, 53, 54, 55]
    assert rows["receiver_x"].tolist() == [12345, 12346, 12347, 12348, 12349, 12350]
    assert rows["source_x"].tolist() == [100] * 3 + [200] * 3
    assert rows["channel"].tolist() == [9] * 6
    assert rows["receiver_z"].tolist() == [33] * 6


def test_the_index_says_its_words(tmp_path):
    index = index_of(live().write(tmp_path / "a.segy"), words=("shot=17:i4",))
    assert index.summary.words == {name: str(word) for name, word in DEFAULTS.items()} | {"shot": "17:i4"}


# --- the file


def test_samplings_are_counted_and_named(tmp_path):
    first, second = live(), live(samples=6, shots=3)
    for fields in first.trace:
        fields[9] += 10
    first.trace[2][109] = 20
    index = index_of(first.write(tmp_path / "a.segy"), second.write(tmp_path / "b.segy"))
    told = [(one.samples, one.interval, one.delay, one.traces, one.file) for one in index.summary.samplings]
    assert told == [(6, 0.004, 0, 9, "b.segy"), (4, 0.004, 0, 5, "a.segy"), (4, 0.004, 0.02, 1, "a.segy")]
    assert table_of(index)["delay"][2] == 0.02
    said = summary.table_of(index)
    assert "`migrate` takes all of these to one time axis, with the most frequent interval" in said
    assert "leaves" not in said


def test_a_file_twice_is_taken_once(tmp_path):
    path = live().write(tmp_path / "a.segy")
    (tmp_path / "b.segy").symlink_to(path)
    index = index_of(path, tmp_path / "b.segy")
    assert index.summary.traces == 6
    assert index.summary.notes == (f"{tmp_path / 'b.segy'}: is {path} again: taken once",)


def test_names_are_those_from_the_index(tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    paths = [live().write(tmp_path / name) for name in ("in/deep/a.segy", "b.segy")]
    index = build.build_index(paths, tmp_path / "in" / "i.parquet", words_of([]), 1, False, print)
    assert [one.name for one in index.summary.files] == ["deep/a.segy", str(tmp_path / "b.segy")]
    (tmp_path / "in").rename(tmp_path / "moved")
    again = TraceIndex(tmp_path / "moved" / "i.parquet")
    assert [layout.path for layout in again.layouts()] == [tmp_path / "moved/deep/a.segy", tmp_path / "b.segy"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: path.write_bytes(path.read_bytes() + b"x"), "it has 5137 bytes, and had 5136"),
        (lambda path: os.utime(path, ns=(0, 1)), "it was written to since"),
        (lambda path: path.unlink(), "no such file, and an index names files from its own folder on; run"),
    ],
)
def test_a_file_that_changed_is_refused(tmp_path, change, words):
    path = live().write(tmp_path / "a.segy")
    index = index_of(path)
    index.layouts()
    change(path)
    with pytest.raises(InputError, match=f"a.segy: .*{words}"):
        index.layouts()


def test_what_is_no_index(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pytest.raises(InputError, match=r"a.parquet: no such file"):
        TraceIndex(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").write_text("x")
    with pytest.raises(InputError, match=r"a.parquet: is not a Parquet file"):
        TraceIndex(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a.parquet: is no index of a survey"):
        TraceIndex(tmp_path / "a.parquet")
    index_of(live().write(tmp_path / "a.segy"))
    table = pq.read_table(tmp_path / "survey.parquet")
    pq.write_table(table.replace_schema_metadata({"fathometer.survey": '{"version": 99}'}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"version 99, where 1 is known\); run `fathometer survey build` again"):
        TraceIndex(tmp_path / "a.parquet")


def test_an_output_that_would_be_wrong(tmp_path):
    path = live().write(tmp_path / "a.parquet")
    before = path.read_bytes()
    for output, words in ((path, "is one of the files"), (tmp_path / "a.csv", "ends in .parquet")):
        with pytest.raises(InputError, match=words):
            build.build_index([path], output, words_of([]), 1, False, print)
    assert path.read_bytes() == before


def test_a_build_that_fails_leaves_what_was_there(tmp_path):
    path = live().write(tmp_path / "a.segy")
    before = index_of(path).path.read_bytes()
    data = live()
    silent(data)
    with pytest.raises(InputError, match="all samples are zero"):
        index_of(path, data.write(tmp_path / "b.segy"), strict=True)
    assert (tmp_path / "survey.parquet").read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.segy", "b.segy", "survey.parquet"]


def test_any_reader_of_parquet_finds_the_columns(tmp_path):
    import pyarrow.parquet as pq

    table = pq.read_table(index_of(live().write(tmp_path / "a.segy")).path)
    assert table.column_names == list(COLUMNS)
    assert table.column("file").to_pylist() == ["a.segy"] * 6
    assert table.column("source_x").to_pylist() == [100.0] * 3 + [200.0] * 3


@pytest.mark.parametrize("jobs", [1, 3])
def test_threads_do_not_matter(tmp_path, monkeypatch, jobs):
    monkeypatch.setattr("fathometer.storage.index.chunk.CHUNK_BYTES", 600)
    paths = [live(shots=7).write(tmp_path / f"{name}.segy") for name in "ab"]
    before = index_of(*paths, jobs=2).path.read_bytes()
    assert index_of(*paths, jobs=jobs).path.read_bytes() == before


# --- memory


def build_and_tell(folder: str) -> None:
    """In a process of its own: index a file, and print the most memory in bytes that the process ever took."""
    index_of(Path(folder) / "a.segy")
    (line,) = (one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM"))
    print(1024 * int(line.split()[1]))


def test_a_million_traces_in_less_than_400_megabytes(tmp_path):
    # As many as possible are duplicates: the rows are written twice then. Their rows alone would take 106 MB.
    shots = live(shots=10, channels=100, samples=2).write(tmp_path / "a.segy").read_bytes()
    with (tmp_path / "a.segy").open("wb") as file:
        file.write(shots[:3600])
        for _ in range(1000):
            file.write(shots[3600:])
    program = f"from test_index import build_and_tell; build_and_tell({str(tmp_path)!r})"
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    (tmp_path / "a.segy").unlink()
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 400e6
