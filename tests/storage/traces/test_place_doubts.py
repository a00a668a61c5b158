"""Places that are none, or far from all others, and offsets that contradict places: one note each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from index_support import index_of
from segy_support import Bytes

from fathometer.storage.index import chunk
from fathometer.storage.traces.place_doubts import on_places
from fathometer.storage.traces.segy import scan

SHOTS, CHANNELS = 3, 12


def written(folder: Path, changes: dict[int, dict[int, int]] | None = None, far: int = 451_000, **options) -> Path:
    """Three shots, 100 m apart, of 12 receivers, 25 m apart. changes: fields of traces."""
    places = [
        {9: shot + 1, 13: n + 1, 29: 1, 73: far + 100 * shot, 77: far, 81: far + 50 + 25 * n, 85: far}
        for shot in range(SHOTS)
        for n in range(CHANNELS)
    ]
    for trace, fields in (changes or {}).items():
        places[trace] |= fields
    values = np.random.default_rng(4).standard_normal((len(places), 20))
    return Bytes(values, **{"trace": places, "every": {117: 4000}} | options).write(folder / "a.segy")


def notes_of(path: Path) -> list[str]:
    """The notes of a scan, which are those of an index."""
    notes = list(scan(path).notes)
    assert [told.removeprefix(f"{path}: ") for told in index_of(path).summary.notes] == notes
    assert on_places(notes) == tuple(notes)
    return notes


@pytest.mark.parametrize(("word", "name"), [(81, "x of the receiver"), (77, "y of the source")])
@pytest.mark.parametrize("value", [2**31 - 1, -(2**31)])
def test_a_place_that_is_none_is_named(tmp_path: Path, word: int, name: str, value: int) -> None:
    [note] = notes_of(written(tmp_path, {15: {word: value}, 20: {word: value}}))
    assert note == (
        f"{name} is {value}, which stands for no place, in 2 traces (first: trace 15, from 0): taken as it stands"
    )


@pytest.mark.parametrize("size", [1 << 22, 1000])
def test_a_place_far_from_all_others_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(chunk, "CHUNK_BYTES", size)
    [note] = notes_of(written(tmp_path, {15: {81: 0}}))
    assert note.startswith("trace 15 (from 0) has its receiver at x = 0 m, 4.51e+05 m from where nearly all others lie")
    assert notes_of(written(tmp_path, {15: {81: 350_000}})) == []  # some hundred extents


def test_places_of_dead_traces_do_not_count(tmp_path: Path) -> None:
    path = written(tmp_path, {15: {29: 2, 81: 0, 77: 2**31 - 1}})
    assert ["marked as dead" in note for note in scan(path).notes] == [True]
    assert index_of(path).summary.notes == ()


@pytest.mark.parametrize("feet", [False, True])
def test_offsets_that_contradict_places(tmp_path: Path, feet: bool) -> None:
    offsets = {n: {37: 50 + 25 * (n % CHANNELS) - 100 * (n // CHANNELS)} for n in range(SHOTS * CHANNELS)}
    feet_notes = ["lengths are in feet by the binary header; converted to metres"][: int(feet)]
    assert notes_of(written(tmp_path, offsets, feet=feet)) == feet_notes
    places = {n: fields | {71: -10} for n, fields in offsets.items()}
    [note] = [note for note in notes_of(written(tmp_path, places, feet=feet)) if note not in feet_notes]
    medians = "34.29 and 3.429" if feet else "112.5 and 11.25"
    assert note == (
        "offsets of the headers (bytes 37-40) contradict the distances of sources and receivers, which are used: "
        f"medians {medians} m: are coordinates and their scalar right?"
    )


@pytest.mark.parametrize("offset", [0, 9999])
def test_offsets_that_are_one_say_nothing(tmp_path: Path, offset: int) -> None:
    assert notes_of(written(tmp_path, {n: {37: offset} for n in range(SHOTS * CHANNELS)})) == []


def test_offsets_of_few_traces_say_nothing(tmp_path: Path) -> None:
    offsets = {n: {37: 50 + 25 * (n % CHANNELS) - 100 * (n // CHANNELS)} for n in range(SHOTS * CHANNELS)}
    assert notes_of(written(tmp_path, offsets | {n: {37: 7000 + n} for n in range(12)})) == []


@pytest.mark.parametrize("offsets", [False, True])
def test_degrees_of_a_wide_survey(tmp_path: Path, offsets: bool) -> None:
    """Of 3.3 degrees, but offsets in metres that are as said show a survey of 3.3 m."""
    places = [
        {9: 1, 13: n, 71: -10_000, 73: 100_000, 77: 500_000, 81: 100_000 + 3000 * n, 85: 500_000} for n in range(12)
    ]
    for n, fields in enumerate(places):
        fields[37] = round(0.3 * n) if offsets else 0
    path = Bytes(np.ones((12, 20)), trace=places).write(tmp_path / "a.segy")
    assert ["coordinates may be degrees" in note for note in scan(path).notes] == [True] * (not offsets)
    near = [fields | {77: 20_000, 85: 20_000} for fields in places]  # nearer to an axis than it is wide
    assert scan(Bytes(np.ones((12, 20)), trace=near).write(tmp_path / "b.segy")).notes == ()
