"""Words of trace headers that nothing uses, and values that are hardly meant: one note each, in files and indices."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from index_support import index_of
from segy_support import Bytes

from fathometer.storage.traces.place_doubts import on_places
from fathometer.storage.traces.segy import scan
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.volume import open_volume

PLACES = {9: 7, 73: 1000, 81: 1100}


def written(folder: Path, every: dict[int, int], trace: list[dict[int, int]] | None = None) -> Path:
    """Six traces; words of 16 bits from byte 99 on, 29 and 35 are put in afterwards."""
    values = np.random.default_rng(1).standard_normal((6, 20))
    known = {byte: value for byte, value in every.items() if byte < 99 and byte not in (29, 35)}
    path = Bytes(values, every=PLACES | known).write(folder / "a.segy")
    data = bytearray(path.read_bytes())
    for number in range(6):
        words = every if trace is None else trace[number] if number < len(trace) else {}
        for byte, value in words.items():
            if byte >= 99 or byte in (29, 35):
                struct.pack_into(">h", data, 3600 + number * (240 + 80) + byte - 1, value)
    path.write_bytes(data)
    return path


CASES = {
    "no power of ten": (
        {71: -32768},
        "the coordinate scalar is -32768, no power of ten: coordinates are divided by 32768",
    ),
    "three": ({69: 3}, "the elevation scalar is 3, no power of ten: depths and elevations are multiplied by 3"),
    "far away": ({41: 5152390, 69: 0}, "z = -5152390 to -5152390 m with elevation scalar 0 (bytes 69-70): are"),
    "total statics": ({103: -20}, "the headers hold total statics -20 to 0 ms: they are not applied"),
    "lags": (
        {105: 12, 107: -4},
        "lag times A 0 to 12 ms, B -4 to 0 ms (bytes 105-108): they are not applied",
    ),
    "datums": (
        {53: 120, 57: 100, 41: 150, 45: 160},
        "datum elevations of sources 0 to 100, of receivers 0 to 120 (bytes 53-60, without their scalar), other than",
    ),
    "mute": ({111: 20, 113: 400}, "mute times up to 400 ms (bytes 113-114): they are not applied"),
    "tests": ({35: 2}, "6 traces are marked as tests (data use 2, bytes 35-36): used like others"),
    "correlated": ({125: 2}, "traces are correlated with a sweep (bytes 125-126): their wavelet is that of the"),
    "not correlated": ({125: 1, 131: 8000}, "traces are not correlated with their sweep of 8000 ms: they are taken"),
    "time scalar": ({109: 90, 215: -3}, "the time scalar is -3, no power of ten: delays are divided by 3"),
    "no delay": ({109: -32768}, "the delay of 6 traces is -32768 ms (bytes 109-110), which hardly is one"),
    "weighting": ({169: 3}, "trace weighting factors 2^-N, N from 0 to 3: they are not applied"),
    "unit of coordinates": ({89: 5}, "the unit of coordinates has code 5 (bytes 89-90), which no standard has"),
}

PLACED = ("no power of ten", "three", "far away", "unit of coordinates")  # those that speak against places


@pytest.mark.parametrize("case", CASES)
def test_each_is_one_note(tmp_path: Path, case: str) -> None:
    every, words = CASES[case]
    path = written(tmp_path, every)
    assert [note for note in scan(path).notes if words in note] == list(scan(path).notes)
    assert len(scan(path).notes) == 1
    [told] = index_of(path).summary.notes
    assert words in told
    assert bool(on_places([told])) == (case in PLACED)


def test_statics_of_single_traces(tmp_path: Path) -> None:
    path = written(tmp_path, {}, trace=[{}, {99: 4, 101: -6}, {99: 8}])
    [note] = scan(path).notes
    assert "source statics 0 to 8 ms, group statics -6 to 0 ms: they are not applied" in note


def test_gains_that_differ(tmp_path: Path) -> None:
    [note] = scan(written(tmp_path, {}, trace=[{121: 6}, {121: 12}, {121: 6, 29: 1}] + [{121: 6}] * 3)).notes
    assert "instrument gains differ between traces, 6 to 12 dB (bytes 121-122): they are not applied" in note


OF_SAMPLES = {
    "early gain": (
        [{123: 0}, {123: 6}],
        "initial gains differ between traces, 0 to 6 dB (bytes 123-124): they are not",
    ),
    "unit": ([{203: 1}, {203: 6}], "units of samples differ between traces, codes 1 to 6 (bytes 203-204): samples are"),
    "transduction": (
        [{207: 1, 211: 1}, {207: 3, 209: -1, 211: 1}],
        "transduction constants differ between traces, 0.3 to 1 (bytes 205-210): they are not applied",
    ),
    "unit of transduction": (
        [{207: 1, 211: 1}, {207: 1, 211: 2}],
        "transduction units differ between traces, codes 1 to 2 (bytes 211-212): samples are taken as they are",
    ),
    "the same otherwise": ([{207: 1000, 209: -4, 203: 6}, {207: 100, 209: -3, 203: 6}], ""),
}


@pytest.mark.parametrize("case", OF_SAMPLES)
def test_what_scales_samples_and_differs_between_traces(tmp_path: Path, case: str) -> None:
    """Of the bytes from 203 on, where the file declares a revision that has them."""
    (one, other), words = OF_SAMPLES[case]
    path = written(tmp_path, {}, trace=[one, other, *[one] * 4])
    notes = scan(path).notes
    assert [words in note for note in notes] == [True] * bool(words)
    assert [note in told for note, told in zip(notes, index_of(path).summary.notes, strict=True)] == [True] * len(notes)
    data = bytearray(path.read_bytes())
    data[3500:3502] = 0, 0
    path.write_bytes(data)
    assert bool(scan(path).notes) == (case == "early gain")
    dead = written(tmp_path, {}, trace=[one, other | {29: 2}, *[one] * 4])
    assert ["marked as dead" in note for note in scan(dead).notes] == [True]


def test_words_of_su_are_others(tmp_path: Path) -> None:
    """There the number of traces stands where the standard has the transduction constant."""
    trace = [{29: 1, 117: 4000, 205: n, 209: 7 * n} for n in range(6)]
    path = Bytes(np.ones((6, 20)), every=PLACES, trace=trace, su=True).write(tmp_path / "a.su")
    assert scan(path).notes == ()


@pytest.mark.parametrize(
    "words",
    [
        {121: 12, 119: 2},  # one gain
        {207: 3, 209: -2, 211: 1, 203: 6},  # one transduction, one unit
        {105: -4, 109: 4},  # a delay that makes the lag good
        {111: 0, 113: 48},
        {53: 150, 57: 160, 41: 150, 45: 160},  # datums at the surface
        {215: -3},  # of no delay
        {125: 1},
        {35: 1},
    ],
    ids=str,
)
def test_words_that_change_nothing_have_no_note(tmp_path: Path, words: dict[int, int]) -> None:
    path = written(tmp_path, words)
    assert scan(path).notes == ()
    assert index_of(path).summary.notes == ()


@pytest.mark.parametrize(("sweep", "notes"), [(0, 0), (6000, 1)])
def test_the_binary_header_says_correlated(tmp_path: Path, sweep: int, notes: int) -> None:
    """Without a sweep it says so of air guns, too."""
    path = written(tmp_path, {})
    data = bytearray(path.read_bytes())
    data[3248:3250], data[3236:3238] = struct.pack(">h", 2), struct.pack(">h", sweep)
    path.write_bytes(data)
    assert ["correlated with a sweep" in note for note in scan(path).notes] == [True] * notes


def test_headers_of_dead_traces_do_not_count(tmp_path: Path) -> None:
    dead = {29: 2, 35: 2, 105: 9, 113: 500, 121: 40, 125: 2}
    notes = scan(written(tmp_path, {}, trace=[{}, dead])).notes
    assert ["marked as dead" in note for note in notes] == [True]


@pytest.mark.parametrize(("code", "what"), [(1, "a negative number"), (2, "a positive number")])
def test_polarity(tmp_path: Path, code: int, what: str) -> None:
    path = written(tmp_path, {})
    data = bytearray(path.read_bytes())
    struct.pack_into(">h", data, 3256, code)
    path.write_bytes(data)
    [note] = scan(path).notes
    assert f"the impulse polarity code is {code}: an increase of pressure is {what}" in note
    assert "conditioning.polarity" in note


def test_polarity_in_a_file_whose_bytes_are_swapped_in_pairs(tmp_path: Path) -> None:
    path = Bytes(np.ones((6, 20)), every=PLACES, revision=(2, 1), pairs=True).write(tmp_path / "a.segy")
    data = bytearray(path.read_bytes())
    data[3256:3258] = struct.pack("<h", 2)  # of big-endian words whose bytes were swapped
    path.write_bytes(data)
    assert scan(path).layout.pairs
    assert any("the impulse polarity code is 2" in note for note in scan(path).notes)


def test_sound_headers_have_no_note(tmp_path: Path) -> None:
    for scalar in (0, 1, 10, -10, -100, 1000, -10000):
        assert scan(written(tmp_path, {71: scalar, 69: scalar})).notes == ()


def degrees(folder: Path, step: int, revision: tuple[int, int] = (0, 0), y: int = 500_000) -> Path:
    """Longitudes of six receivers, in 1e-4 of a degree."""
    values = np.ones((6, 20))
    places = [{9: 7, 71: -10_000, 73: 100_000, 77: y, 81: 100_000 + step * n, 85: y} for n in range(6)]
    return Bytes(values, trace=places, revision=revision).write(folder / "a.segy")


@pytest.mark.parametrize("revision", [(0, 0), (1, 0)])
def test_coordinates_that_may_be_degrees(tmp_path: Path, revision: tuple[int, int]) -> None:
    path = degrees(tmp_path, 30, revision)
    [note] = scan(path).notes
    assert "all sources and receivers lie within 10 to 10.015 m along x and 50 to 50 m along y" in note
    assert "coordinates may be degrees, which are taken as metres" in note
    assert any(note in told for told in index_of(path).summary.notes)
    assert on_places([note])
    assert scan(degrees(tmp_path, 30_000)).notes == ()  # 15 m
    assert scan(degrees(tmp_path, 30, y=950_000)).notes == ()  # no latitude
    assert scan(degrees(tmp_path, 0)).notes == ()


def test_a_sample_interval_that_may_be_in_milliseconds(tmp_path: Path) -> None:
    path = Bytes(np.ones((6, 20)), interval=4, every=PLACES | {117: 4}).write(tmp_path / "a.segy")
    [note] = scan(path).notes
    assert "the sample interval is taken as 4 µs, as the headers say: if 4 ms are meant" in note
    assert "[acquisition] sample_interval = 0.004" in note
    assert any(note in told for told in index_of(path).summary.notes)
    assert not any("are meant" in told for told in scan(path, 0.004).notes)
    path = Bytes(np.ones((6, 20)), interval=50, every=PLACES | {117: 50}).write(tmp_path / "a.segy")
    assert scan(path).notes == ()


@pytest.mark.parametrize(("code", "more"), [(512, "; with its bytes swapped it is 2"), (3, "")])
def test_a_measurement_system_that_is_none(tmp_path: Path, code: int, more: str) -> None:
    path = written(tmp_path, {})
    data = bytearray(path.read_bytes())
    data[3254:3256] = struct.pack(">h", code)
    path.write_bytes(data)
    [note] = scan(path).notes
    assert note == (
        f"the measurement system of the binary header is {code}, neither 1 (metres) nor 2 (feet){more}: lengths are "
        "taken as metres"
    )
    assert [told.endswith(note) for told in index_of(path).summary.notes] == [True]
    assert on_places([note])
    volume = open_volume("a.segy:volume", tmp_path)
    assert isinstance(volume, SegyVolume)
    assert note in volume.notes
    assert note in volume.info.notes
