"""Words of trace headers that nothing uses, and values that are hardly meant: one note each, in files and indices."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from index_support import index_of
from segy_support import Bytes

from fathometer.storage.traces.segy import scan
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.volume import open_volume

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
    volume = open_volume("a.segy:volume", tmp_path)
    assert isinstance(volume, SegyVolume)
    assert note in volume.notes
    assert note in volume.unit_notes
