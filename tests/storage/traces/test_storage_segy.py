"""SEG-Y gathers: sample formats, byte orders, traps in real headers, refusals, and what the writer writes."""

import os
import re
import resource
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import segyio
from hypothesis import given, settings
from hypothesis import strategies as st
from index_support import found, index_of, live
from segy_support import INT24, TYPES, Bytes, to_ibm

from fathometer.base.errors import FathometerError, InputError
from fathometer.storage.traces.detect import layout_of
from fathometer.storage.traces.sample_formats import from_ibm
from fathometer.storage.traces.segy import GatherWriter, read_traces, scan
from fathometer.storage.traces.segy_writer import choose_scalar


def small(**options) -> Bytes:
    return Bytes(np.arange(12.0).reshape(3, 4), **options)


@pytest.mark.parametrize("order", "><")
@pytest.mark.parametrize("code", [1, *INT24, *TYPES])
def test_sample_formats(tmp_path, code, order):
    values = np.array([[0, 1, 2, 100], [127, 3, 5, 77]], np.float64)
    if code == 15:  # beyond what is signed
        values = values * 2**17
    if code not in (10, 11, 12, 15, 16):
        values = np.concatenate((values, -values))
    if code in (1, 5, 6):
        values = values * 0.1875
    path = Bytes(values, code, order).write(tmp_path / "a.segy")
    found = read_traces(path, range(len(values)))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, values)
    assert layout_of(path).order == order


@settings(max_examples=300)
@given(st.integers(-(2**24) + 1, 2**24 - 1), st.integers(-25, 25))
def test_ibm_floats_are_exact(fraction, exponent):
    value = fraction * 16.0**exponent
    word = to_ibm(value)
    kept = (word & 0xFFFFFF) * 16.0 ** ((word >> 24 & 0x7F) - 64) / 2**24
    assert from_ibm(np.array([word], np.uint32))[0] == np.float32(kept if fraction >= 0 else -kept)


# The two with format 4 are refused below; all others hold the same traces.
@pytest.mark.parametrize("order", ["msb", "lsb"])
@pytest.mark.parametrize("code", [1, 5, 7, 9])
def test_variants_hold_the_same_traces(shared_data, code, order):
    folder = shared_data / "segy_variants"
    path = folder / "multiformats" / f"Format{code}{order}.sgy"
    with segyio.open(folder / "f3.sgy", ignore_geometry=True) as file:
        expected = file.trace.raw[:]
    np.testing.assert_array_equal(read_traces(path, range(len(expected))), expected)


FIELDS = {"ffid": 9, "channel": 13}
OPENED = ["f3", "f3-lsb", "shot-gather", "small", "small-lsb", "small-ps", "small-ps-dec-il-xl-off"]


@pytest.mark.parametrize("name", OPENED)
def test_variants_as_segyio_reads_them(shared_data, name):
    path = shared_data / "segy_variants" / f"{name}.sgy"
    table = scan(path)
    with segyio.open(path, ignore_geometry=True, endian="little" if "lsb" in name else "big") as file:
        np.testing.assert_array_equal(read_traces(path, range(file.tracecount)), file.trace.raw[:])
        np.testing.assert_array_equal(read_traces(path, [3, 1, 1]), file.trace.raw[:][[3, 1, 1]])
        assert (table.samples, len(table.ffid)) == (len(file.samples), file.tracecount)
        assert table.interval == segyio.dt(file) / 1e6
        for attribute, first in FIELDS.items():
            np.testing.assert_array_equal(getattr(table, attribute), file.attributes(first)[:])
        divisor = max(1, -file.header[0][71])
        for axis, first in enumerate((73, 77)):
            np.testing.assert_array_equal(table.source[:, axis], file.attributes(first)[:] / divisor)
        assert table.delay == file.header[0][109] / 1000


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "broken.sgy",
            "broken.sgy: is truncated or contradictory: 836 bytes of traces hold 3.27 traces of 4 samples",
        ),
        ("text.sgy", r"text.sgy: holds no traces \(3600 bytes"),
        ("multiformats/Format4msb.sgy", r"sample format is 4 \(4-byte fixed point"),
        ("multiformats/Format4lsb.sgy", r"sample format is 4 \(4-byte fixed point"),
    ],
)
def test_variants_that_are_refused(shared_data, name, words):
    for read in (scan, lambda path: read_traces(path, [0])):
        with pytest.raises(InputError, match=words) as caught:
            read(shared_data / "segy_variants" / name)
        assert "\n" not in str(caught.value)


def test_field_shots_have_their_true_samples_and_geometry(shared_data):
    path = shared_data / "viking_graben" / "viking_small.segy"
    table = scan(path)
    assert (table.samples, table.interval, table.delay) == (600, 0.004, 0.0)
    np.testing.assert_array_equal(table.ffid, np.repeat([3, 4, 5, 6], 120))
    np.testing.assert_array_equal(table.channel, np.tile(np.arange(1, 121), 4))
    np.testing.assert_array_equal(np.unique(table.source[:, 0]), [3237, 3262, 3287, 3312])
    np.testing.assert_array_equal(np.unique(table.receiver[:, 0]), np.arange(0, 3075, 25))
    assert (np.unique(table.source[:, 2]), np.unique(table.receiver[:, 2])) == (6, 10)
    assert len(table.notes) == 3
    assert "the binary header says 600, the first trace's 1500" in table.notes[0]
    assert "decimal degrees" in table.notes[1]
    traces = read_traces(path, range(480))
    assert (traces.min(), traces.max()) == (np.float32(-1270.1445), np.float32(1290.6289))
    assert float(np.sqrt(np.mean(traces.astype(float) ** 2))) == pytest.approx(56.03, abs=0.005)


@pytest.mark.parametrize(
    ("binary", "trace", "samples", "noted"),
    [(4, 4, 4, False), (4, 0, 4, False), (0, 4, 4, False), (4, 1500, 4, True), (1500, 4, 4, True)],
)
def test_the_sample_count_that_fits_the_file_is_used(tmp_path, binary, trace, samples, noted):
    path = small(samples=binary, every={115: trace}).write(tmp_path / "a.segy")
    table = scan(path)
    assert table.samples == samples
    assert any("sample counts differ" in note for note in table.notes) == noted
    np.testing.assert_array_equal(read_traces(path, [1]), [[4, 5, 6, 7]])


@pytest.mark.parametrize(("binary", "trace"), [(36, 4), (4, 36)])
def test_of_two_counts_that_fit_the_one_that_leads_to_headers_is_used(tmp_path, binary, trace):
    """Six traces of 4 samples are as long as four of 36."""
    values = np.arange(24.0, dtype=np.float32).reshape(6, 4)
    path = Bytes(values, samples=binary, every={115: trace, 117: 4000}).write(tmp_path / "a.segy")
    table = scan(path)
    assert (table.samples, len(table.ffid)) == (4, 6)
    assert any("sample counts differ" in note for note in table.notes)
    np.testing.assert_array_equal(read_traces(path, range(6)), values)


@pytest.mark.parametrize("blank", [0x40, 0x20])
def test_blanks_in_what_revision_0_left_unassigned(tmp_path, blank):
    path = small().write(tmp_path / "a.segy")
    data = bytearray(path.read_bytes())
    data[3260:3600] = bytes([blank]) * 340
    path.write_bytes(data)
    assert scan(path).samples == 4
    assert layout_of(path).revision == 0
    np.testing.assert_array_equal(read_traces(path, [1]), [[4, 5, 6, 7]])


@pytest.mark.parametrize("order", "><")
@pytest.mark.parametrize(("additional", "announced"), [(1, 1), (3, 3), (1, 2)])
def test_additional_trace_headers(tmp_path, order, additional, announced):
    """The binary header announces the most that a trace may have; the extension of a trace says how many it has."""
    data = small(revision=(2, 1), order=order, every={117: 4000}, additional=additional, announced_additional=announced)
    data.extension = [{157: ("H", additional)}] * 3
    path = data.write(tmp_path / "a.segy")
    table = scan(path)
    assert (table.samples, len(table.ffid), table.layout.additional) == (4, 3, additional)
    assert any("additional trace headers" in note for note in table.notes) == (announced != additional)
    np.testing.assert_array_equal(read_traces(path, range(3)), data.values)


def test_a_file_that_ends_within_its_additional_headers(tmp_path):
    path = small(revision=(2, 1), every={117: 4000}, additional=2).write(tmp_path / "a.segy")
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(InputError, match=r"truncated or contradictory: 1908 bytes of traces hold 2\.59 traces of 4"):
        scan(path)


@pytest.mark.parametrize("code", [1, 3, 5, 6, 8, 9])
def test_bytes_swapped_in_pairs_are_read_as_the_plain_file(tmp_path, code):
    """Revision 2's constant 16909060 appears as 33620995 where the bytes of each pair are swapped."""
    options = {"format": code, "revision": (2, 1), "every": {9: 70000, 73: 123456, 109: 50, 117: 4000}}
    plain = small(mark=True, **options).write(tmp_path / "plain.segy")
    other = small(pairs=True, **options).write(tmp_path / "other.segy")
    assert plain.read_bytes()[3600:] != other.read_bytes()[3600:]
    one, two = scan(plain), scan(other)
    assert (one.samples, one.interval, one.delay) == (two.samples, two.interval, two.delay) == (4, 0.004, 0.05)
    np.testing.assert_array_equal(one.source, two.source)
    np.testing.assert_array_equal(one.ffid, two.ffid)
    np.testing.assert_array_equal(read_traces(other, range(3)), read_traces(plain, range(3)))


def test_three_bytes_cannot_be_swapped_in_pairs(tmp_path):
    path = Bytes(np.arange(24.0).reshape(3, 8), format=7, revision=(2, 1), pairs=True).write(tmp_path / "a.segy")
    with pytest.raises(InputError, match=r"samples of 3 bytes \(format 7\) cannot be swapped in pairs"):
        scan(path)


@pytest.mark.parametrize("order", "><")
def test_revision_2_says_its_byte_order(tmp_path, order):
    path = small(order=order, mark=True, revision=(2, 1), every={117: 4000}).write(tmp_path / "a.segy")
    assert layout_of(path).order == order
    np.testing.assert_array_equal(read_traces(path, range(3)), small().values)


@pytest.mark.parametrize(
    ("order", "binary"),
    [(">", {}), ("<", {}), (">", {3509: 0x8029, 3511: 0x802A}), ("<", {3509: 0x8029, 3511: 0x802A})],
)
def test_the_word_behind_the_number_of_additional_headers_is_another(tmp_path, order, binary):
    """Bytes 3509-3510 are the survey type: no part of the number of additional headers in bytes 3507-3508."""
    path = small(order=order, revision=(2, 1), every={117: 4000}).write(tmp_path / "a.segy")
    data = bytearray(path.read_bytes())
    for first, value in binary.items():
        struct.pack_into(order + "H", data, first - 1, value)
    path.write_bytes(data)
    assert layout_of(path).additional == 0
    np.testing.assert_array_equal(read_traces(path, range(3)), small().values)


@pytest.mark.parametrize("interval", [-32763, 0, 2000])
def test_an_interval_that_is_asked_for_takes_the_place_of_the_headers(tmp_path, interval):
    path = small(interval=interval, every={117: -interval}).write(tmp_path / "a.segy")
    table = scan(path, interval=0.001)
    assert table.interval == 0.001
    says = "2000 µs" if interval > 0 else "none that is positive"
    assert table.notes[-1] == "the trace headers carry no coordinates: every source and receiver is at the origin"
    assert table.notes[-2] == f"the sample interval is taken as 1000 µs, as was asked for; the headers say {says}"
    assert not any("intervals differ" in note for note in table.notes)


@pytest.mark.parametrize("order", "><")
@pytest.mark.parametrize(
    ("revision", "plain", "extended", "interval"),
    [
        ((2, 0), 512, 512.5, 512.5),
        ((2, 1), 0, 512.5, 512.5),
        ((2, 0), 0, 50000.25, 50000.25),  # beyond 16 bits
        ((2, 0), 2000, 32.5, 2000),  # what other writers leave there
        ((2, 0), 2000, 1e-320, 2000),
        ((2, 0), 2000, float("nan"), 2000),
        ((1, 0), 512, 512.5, 512),
    ],
)
def test_extended_interval_of_revision_2(tmp_path, order, revision, plain, extended, interval):
    own = int(min(interval, 32767))
    path = small(interval=plain, order=order, revision=revision, every={117: own}).write(tmp_path / "a.segy")
    data = bytearray(path.read_bytes())
    data[3272:3280] = struct.pack(order + "d", extended)
    path.write_bytes(data)
    assert scan(path).interval == pytest.approx(1e-6 * interval, rel=1e-12)


@pytest.mark.parametrize(("extended", "told"), [(500.25, 1), (2e6, 0), (0.004, 0), (4000.2, 0), (-500.0, 0)])
def test_an_extended_interval_that_contradicts_the_other_is_told(tmp_path, extended, told):
    path = live(revision=(2, 0)).write(tmp_path / "a.segy")
    data = bytearray(path.read_bytes())
    data[3272:3280] = struct.pack(">d", extended)
    path.write_bytes(data)
    notes = [
        "sample intervals differ: 4000 µs in the binary header, 500.25 µs in its extended field (bytes 3273-3280); the "
        "former is used"
    ]
    assert list(scan(path).notes) == notes[:told]
    assert found(index_of(path)) == {"headers": 1} if told else not found(index_of(path))
    assert not any("differ" in note for note in scan(path, 0.002).notes)


STANZA = "((SEG: User data ver 1.0))".ljust(3200)


def with_trailers(path, data, announced, stanzas, order=">"):
    """A file of revision 2 with stanzas behind its traces."""
    content = bytearray(data.write(path).read_bytes())
    content[3528:3532] = struct.pack(order + "i", announced)
    path.write_bytes(bytes(content) + b"".join(text.encode("cp037") for text in stanzas))
    return path


@pytest.mark.parametrize("order", "><")
@pytest.mark.parametrize(
    ("announced", "stanzas"),
    [(1, [STANZA]), (2, [STANZA, " " * 3200]), (-1, [STANZA]), (-1, [STANZA, " " * 3200, STANZA]), (1, [" " * 3200])],
)
@pytest.mark.parametrize("samples", [100, 740])  # 740: a trace is as long as a stanza
def test_trailers_are_no_traces(tmp_path, announced, stanzas, order, samples):
    data = live(samples=samples, revision=(2, 0), order=order)
    path = with_trailers(tmp_path / "a.segy", data, announced, stanzas, order)
    table = scan(path)
    assert len(table.ffid) == 6
    assert table.notes == (
        f"{3200 * len(stanzas)} bytes of trailers lie behind the traces (revision 2): they are not read",
    )
    np.testing.assert_array_equal(read_traces(path, range(6)), data.values)
    index = index_of(path)
    assert found(index) == {}
    assert index.summary.usable == 6


def test_trailers_that_are_not_there(tmp_path):
    path = with_trailers(tmp_path / "a.segy", live(samples=900, revision=(2, 0)), 3, [])
    assert [note.split(",")[0] for note in scan(path).notes] == [
        "the binary header announces trailers behind the traces (bytes 3529-3532)"
    ]
    assert len(scan(path).ffid) == 6
    path = with_trailers(tmp_path / "a.segy", live(samples=900, revision=(2, 0)), -1, [])
    assert scan(path).notes == ()
    path = with_trailers(tmp_path / "a.segy", live(samples=900), 1, [])  # revision 1 has no such word
    assert scan(path).notes == ()


@pytest.mark.parametrize("text", [" ", STANZA])
def test_text_that_is_not_announced_is_an_error_alone(tmp_path, text):
    path = live(extended=[text], announced=0).write(tmp_path / "a.segy")
    for read in (scan, index_of):
        with pytest.raises(InputError, match=r"text stands where traces begin, behind 3600 bytes: extended textual"):
            read(path)


def cut(data: Bytes, size: int):
    def make(path):
        data.write(path)
        path.write_bytes(path.read_bytes()[:size])

    return make


def formatless(path):
    data = bytearray(small().write(path).read_bytes())
    data[3224:3226] = bytes(2)
    path.write_bytes(data)


BAD = {
    "missing": (lambda _: None, "no such file"),
    "empty": (cut(small(), 0), "is empty: 0 bytes"),
    "text only": (cut(small(), 3200), "is not SEG-Y: 3200 bytes"),
    "no traces": (cut(small(), 3600), "holds no traces"),
    "half a trace header": (cut(small(), 3700), "holds no traces"),
    "one byte less": (
        cut(small(), -1),
        "is truncated or contradictory: 767 bytes .* 3.00 traces of 4 samples",
    ),
    "neither count fits": (
        small(samples=7, every={115: 9}).write,
        r"768 bytes of traces hold 2.87 traces of 7 samples \(binary header\) and 2.78 traces of 9 samples",
    ),
    "no count": (small(samples=0, every={115: 0}).write, "neither .* gives the number of samples"),
    "format 0": (formatless, r"sample format is 0 \(unknown\)"),
    "no interval": (small(interval=0).write, "sample interval is not positive: 0 µs .* 0 µs"),
    "negative interval": (small(interval=-4000).write, "sample interval is not positive: -4000 µs"),
    "negative in the trace": (small(interval=0, every={117: -2}).write, "not positive: 0 µs .* -2 µs"),
    "arc seconds": (small(every={89: 2, 81: 3000}).write, "arc seconds .*only lengths"),
    "degrees": (small(every={89: 3, 73: 60, 77: 4}).write, "decimal degrees .*only lengths"),
    "degrees with a scalar": (
        small(every={89: 3, 71: -100, 73: 6000}).write,
        "decimal degrees .*only lengths",
    ),
    "minutes": (small(every={89: 4, 81: 1203000}).write, "degrees, minutes, seconds .*only lengths"),
    "endless stanzas": (small(extended=["x"], announced=-1).write, "EndText"),
}


@pytest.mark.parametrize(("make", "words"), BAD.values(), ids=BAD)
def test_bad_files_are_refused_in_one_line(tmp_path, make, words):
    path = tmp_path / "a.segy"
    make(path)
    with pytest.raises(InputError, match=words) as caught:
        scan(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (small(every={89: 3, 73: 3237}), "reach 3237, which no angle does"),
        (small(every={89: 3, 73: 60}, revision=(0, 0)), "revision 0 does not define"),
        (small(every={89: 2, 73: 6201972}), "arc seconds .* reach 6.20197e"),
        (small(every={117: 2000, 73: 1}), "4000 µs in the binary header, 2000 µs in the first trace's"),
        (small(), "no coordinates"),
        (small(every={73: 1}, trace=[{29: 1}, {29: 2}, {29: 2}]), "2 of 3 traces are marked as dead"),
        (small(every={73: 1}, feet=True), "in feet .* converted to metres"),
    ],
)
def test_notes(tmp_path, data, words):
    (note,) = scan(data.write(tmp_path / "a.segy")).notes
    assert re.search(words, note)


@pytest.mark.parametrize(
    ("flat", "tall", "source", "receiver"),
    [
        (0, 0, (1000, -20, 9), (3, 4, 5)),
        (1, 1, (1000, -20, 9), (3, 4, 5)),
        (10, 1, (10000, -200, 9), (30, 40, 5)),
        (-10, -100, (100, -2, 0.09), (0.3, 0.4, 0.05)),
        (-3, 2, (1000 / 3, -20 / 3, 18), (1, 4 / 3, 10)),
    ],
)
def test_scalars_and_signs(tmp_path, flat, tall, source, receiver):
    # Depth 7 below a surface at -2 is 9 below the datum; a receiver at elevation -5 is 5 below it.
    fields = {71: flat, 69: tall, 73: 1000, 77: -20, 49: 7, 45: -2, 81: 3, 85: 4, 41: -5}
    for feet, length in ((False, 1.0), (True, 0.3048)):
        table = scan(small(every=fields, feet=feet).write(tmp_path / "a.segy"))
        np.testing.assert_array_equal(table.source, np.tile(source, (3, 1)) * length)
        np.testing.assert_array_equal(table.receiver, np.tile(receiver, (3, 1)) * length)


@pytest.mark.parametrize(("scalar", "delay"), [(0, 0.05), (1, 0.05), (-10, 0.005), (10, 0.5)])
def test_delay(tmp_path, scalar, delay):
    assert scan(small(every={109: 50, 215: scalar}).write(tmp_path / "a.segy")).delay == delay


@pytest.mark.parametrize(
    ("binary", "trace", "interval"),
    [(4000, 0, 0.004), (0, 7000, 0.007), (4000, 2000, 0.004), (7000, 7000, 0.007)],
)
def test_interval(tmp_path, binary, trace, interval):
    assert scan(small(interval=binary, every={117: trace}).write(tmp_path / "a.segy")).interval == interval


@pytest.mark.parametrize("announced", [None, -1])
@pytest.mark.parametrize("order", "><")
def test_extended_textual_headers(tmp_path, announced, order):
    stanzas = ["((SEG: Location))", "((SEG: EndText))"]
    path = small(extended=stanzas, announced=announced, order=order).write(tmp_path / "a.segy")
    np.testing.assert_array_equal(read_traces(path, [2]), [[8, 9, 10, 11]])


@pytest.mark.parametrize(("value", "name"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf"), (1e300, "inf")])
def test_values_that_are_not_numbers_are_named(tmp_path, value, name):
    data = small(format=6)
    data.values[2, 1] = value
    path = data.write(tmp_path / "a.segy")
    with pytest.raises(InputError, match=rf"a.segy: trace 2 \(of 3, from 0\) holds {name} at sample 1 \(of 4"):
        read_traces(path, [0, 2])
    assert read_traces(path, [1, 0]).shape == (2, 4)


@pytest.mark.parametrize("index", [-1, 3])
def test_traces_outside_the_file(tmp_path, index):
    with pytest.raises(InputError, match=rf"there is no trace {index} \(0 to 2"):
        read_traces(small().write(tmp_path / "a.segy"), [0, index])


def test_no_traces_asked_for(tmp_path):
    assert read_traces(small().write(tmp_path / "a.segy"), []).shape == (0, 4)


# The writer.


def some_shots(dims=3, count=3, channels=5, samples=20):
    random = np.random.default_rng(3)
    for number in range(count):
        source = random.integers(0, 100, 3) * 12.5
        receivers = random.integers(0, 100, (channels, 3)) * 6.25
        if dims == 2:
            source[1] = receivers[:, 1] = 0.0
        data = random.normal(size=(channels, samples)).astype(np.float32)
        yield number, 101 + number, source, receivers, data


def write_shots(path, shots, samples=20, interval=0.002):
    with GatherWriter(path, samples, interval, sum(len(shot[-1]) for shot in shots)) as writer:
        for number, ffid, source, receivers, data in reversed(shots):
            writer.write(number * len(data), ffid, source, receivers, data)


@pytest.mark.parametrize("dims", [2, 3])
def test_written_gathers_in_plain_segyio(tmp_path, dims):
    shots = list(some_shots(dims))
    write_shots(tmp_path / "shots.segy", shots)
    assert [p.name for p in tmp_path.iterdir()] == ["shots.segy"]
    with segyio.open(tmp_path / "shots.segy", ignore_geometry=True) as file:
        assert int(file.format) == 5
        assert (file.bin[3217], file.bin[3221], file.bin[3255], file.bin[3501]) == (2000, 20, 1, 1)
        assert file.text[0].startswith(b"C 1 Written by Fathometer")
        assert file.text[0][38 * 80 :].startswith(b"C39 SEG Y REV1")
        np.testing.assert_array_equal(file.samples, np.arange(20) * 2.0)
        np.testing.assert_array_equal(file.trace.raw[:], np.concatenate([shot[-1] for shot in shots]))
        for number, ffid, source, receivers, _ in shots:
            for channel, receiver in enumerate(receivers):
                trace = number * 5 + channel
                head = file.header[trace]
                flat, tall = -head[71] if head[71] < 0 else 1, -head[69] if head[69] < 0 else 1
                away = receiver - source
                offset = away[0] if dims == 2 else np.hypot(away[0], away[1])
                found = {first: head[first] for first in (1, 5, 9, 13, 29, 37, 89, 109, 115, 117)}
                expected = {1: trace + 1, 5: trace + 1, 9: ffid, 13: channel + 1, 29: 1, 37: round(offset)}
                assert found == expected | {89: 1, 109: 0, 115: 20, 117: 2000}
                assert [head[73] / flat, head[77] / flat, head[49] / tall] == list(source)
                assert [head[81] / flat, head[85] / flat, -head[41] / tall] == list(receiver)


@pytest.mark.parametrize("dims", [2, 3])
def test_round_trip(tmp_path, dims):
    shots = list(some_shots(dims))
    path = tmp_path / "shots.segy"
    write_shots(path, shots)
    table = scan(path)
    assert (table.samples, table.interval, table.delay, table.notes) == (20, 0.002, 0.0, ())
    np.testing.assert_array_equal(table.ffid, np.repeat([101, 102, 103], 5))
    np.testing.assert_array_equal(table.channel, np.tile(np.arange(1, 6), 3))
    np.testing.assert_array_equal(table.source, np.repeat([shot[2] for shot in shots], 5, axis=0))
    np.testing.assert_array_equal(table.receiver, np.concatenate([shot[3] for shot in shots]))
    assert not np.signbit(table.receiver[table.receiver == 0]).any()
    np.testing.assert_array_equal(read_traces(path, range(15)), np.concatenate([shot[-1] for shot in shots]))


@pytest.mark.parametrize(
    ("values", "scalar"),
    [
        ([0.0], 1),
        ([1.0, -2e9], 1),
        ([12.5], -10),
        ([0.1, 0.2, 0.3], -10),
        ([6.25], -100),
        ([3.125], -1000),
        ([1.5625], -10000),
        ([1 / 3], -10000),
        ([1 / 3, 500_000.0], -1000),
        ([1 / 3, 1e8], -10),
        ([1 / 3, 2e9], 1),
    ],
)
def test_scalar_is_the_coarsest_exact_or_the_finest_that_fits(values, scalar):
    assert choose_scalar(Path("a"), np.array(values)) == scalar


@settings(max_examples=50)
@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3))
def test_coordinates_return_to_the_precision_stated(tmp_path_factory, place):
    path = tmp_path_factory.mktemp("precision") / "a.segy"
    with GatherWriter(path, 2, 0.001, 1) as writer:
        writer.write(0, 1, [0, 0, 0], [place], [[0.0, 1.0]])
    scalar = min(abs(choose_scalar(path, np.array(place[:2]))), abs(choose_scalar(path, np.array(place[2:]))))
    np.testing.assert_allclose(scan(path).receiver[0], place, rtol=0, atol=0.5000001 / scalar)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"interval": 0.00400001}, "whole number of microseconds, 1 to 32767"),
        ({"interval": 0.04}, "interval of 0.04 s does not fit SEG-Y"),
        ({"interval": 0.0}, "interval of 0 s does not fit"),
        ({"interval": float("nan")}, "interval of nan s does not fit"),
        ({"samples": 32768}, r"32768 samples a trace do not fit SEG-Y \(1 to 32767"),
        ({"samples": 0}, "0 samples"),
        ({"traces": 0}, "at least 1"),
    ],
)
def test_what_does_not_fit_segy_is_refused(tmp_path, changes, words):
    with pytest.raises(InputError, match=words):
        GatherWriter(**{"path": tmp_path / "a.segy", "samples": 4, "interval": 0.004, "traces": 3, **changes})
    assert not list(tmp_path.iterdir())


WRONG = {
    "shape": (InputError, "do not fit 3 traces of 4 samples", {"data": np.zeros((3, 5))}),
    "past the end": (InputError, "do not fit 3 traces", {"first_trace": 1}),
    "far away": (InputError, r"3e\+09 m does not fit SEG-Y", {"source": [3e9, 0, 0]}),
    "NaN place": (InputError, "nan m does not fit SEG-Y", {"source": [np.nan, 0, 0]}),
    "NaN": (
        FathometerError,
        "shot 7: NaN or infinity in receiver 0, sample 0",
        {"data": np.full((3, 4), np.nan)},
    ),
    "missing": (FathometerError, r"1 of 3 traces are missing \(the first: 2", {"receivers": 2}),
}


@pytest.mark.parametrize(("kind", "words", "changes"), WRONG.values(), ids=WRONG)
def test_a_failed_write_leaves_nothing(tmp_path, kind, words, changes):
    shot = {
        "first_trace": 0,
        "ffid": 7,
        "source": np.zeros(3),
        "receivers": np.zeros((3, 3)),
        "data": np.zeros((3, 4)),
    }
    shot |= changes
    if isinstance(shot["receivers"], int):
        shot |= {"receivers": np.zeros((2, 3)), "data": np.zeros((2, 4))}
    path = tmp_path / "a.segy"
    with pytest.raises(kind, match=words), GatherWriter(path, 4, 0.004, 3) as writer:
        writer.write(**shot)
    assert not list(tmp_path.iterdir())


def test_an_exception_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.segy"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), GatherWriter(path, 4, 0.004, 3):
        raise KeyboardInterrupt
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.segy", "old")]


def limited_write(path: str) -> None:
    """In a process of its own: write more than the process may, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    try:
        with GatherWriter(Path(path), 1000, 0.004, 100) as writer:
            writer.write(0, 1, np.zeros(3), np.zeros((100, 3)), np.zeros((100, 1000)))
    except FathometerError as error:
        print(error)
        sys.exit(error.exit_code)


def test_a_full_disk_is_one_line(tmp_path):
    path = tmp_path / "a.segy"
    words = f"from test_storage_segy import limited_write; limited_write({str(path)!r})"
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", words], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, f"{path}: cannot be written: File too large\n"), done.stderr
    assert not list(tmp_path.iterdir())
