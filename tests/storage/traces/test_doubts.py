"""Words of trace headers that nothing uses, and values that are hardly meant: one note each, in files and indices."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from index_support import index_of
from segy_support import Bytes

from fathometer.storage.traces.segy import scan

PLACES = {9: 7, 73: 1000, 81: 1100}


def written(folder: Path, every: dict[int, int], trace: list[dict[int, int]] | None = None) -> Path:
    """Six traces; words of 16 bits from byte 99 on are put in afterwards."""
    values = np.random.default_rng(1).standard_normal((6, 20))
    known = {byte: value for byte, value in every.items() if byte < 99}
    path = Bytes(values, every=PLACES | known).write(folder / "a.segy")
    data = bytearray(path.read_bytes())
    for number in range(6):
        words = every if trace is None else trace[number] if number < len(trace) else {}
        for byte, value in words.items():
            if byte >= 99:
                struct.pack_into(">h", data, 3600 + number * (240 + 80) + byte - 1, value)
    path.write_bytes(data)
    return path


CASES = {
    "no power of ten": (
        {71: -32768},
        "the coordinate scalar is -32768, no power of ten: coordinates are divided by 32768",
    ),
    "three": ({69: 3}, "the elevation scalar is 3, no power of ten: depths and elevations are multiplied by 3"),
    "far away": ({41: 5152390, 69: 0}, "receivers lie at z = -5152390 to -5152390 m: are elevations in m"),
    "total statics": ({103: -20}, "the headers hold total statics -20 to 0 ms: they are not applied"),
    "weighting": ({169: 3}, "trace weighting factors 2^-N, N from 0 to 3: they are not applied"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_is_one_note(tmp_path: Path, case: str) -> None:
    every, words = CASES[case]
    path = written(tmp_path, every)
    assert [note for note in scan(path).notes if words in note] == list(scan(path).notes)
    assert len(scan(path).notes) == 1
    [told] = index_of(path).summary.notes
    assert words in told


def test_statics_of_single_traces(tmp_path: Path) -> None:
    path = written(tmp_path, {}, trace=[{}, {99: 4, 101: -6}, {99: 8}])
    [note] = scan(path).notes
    assert "source statics 0 to 8 ms, group statics -6 to 0 ms: they are not applied" in note


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
