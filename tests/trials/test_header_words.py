"""Random words of headers that nothing uses: each kind is one note, in a scan, an index and a run; images keep their
bits.

New seeds each time, printed.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cli_support import MIGRATE, SAMPLES, here, inputs, survey
from index_support import index_of

from fathometer.storage.traces.segy import scan

pytestmark = pytest.mark.trials
COUNT = 8
TRACES = 40

Rng = np.random.Generator
Put = Callable[[int, str, int, int], None]  # first byte (from 1), code, value, trace; -1: the binary header


def short(rng: Rng, least: int = -32768, most: int = 32767) -> int:
    """Not 0."""
    return int(rng.choice([value for value in rng.integers(least, most + 1, 4) if value] or [most]))


def some(rng: Rng, most: int = TRACES) -> list[int]:
    """Traces, one at least."""
    return [int(trace) for trace in rng.choice(TRACES, int(rng.integers(1, most + 1)), replace=False)]


def words(*places: int, least: int = -32768, most: int = 32767, code: str = "h") -> Callable[[Rng, Put], None]:
    """Puts one of the words at least into some traces."""

    def put_some(rng: Rng, put: Put) -> None:
        for place in rng.choice(places, int(rng.integers(1, len(places) + 1)), replace=False):
            for trace in some(rng):
                put(int(place), code, short(rng, least, most), trace)

    return put_some


def differing(*places: tuple[int, str, int, int]) -> Callable[[Rng, Put], None]:
    """Puts the same numbers (first byte, code, least, most) into some traces, not all."""

    def put_some(rng: Rng, put: Put) -> None:
        values = [short(rng, least, most) for *_, least, most in places]
        for trace in some(rng, TRACES - 1):
            for (place, code, *_), value in zip(places, values, strict=True):
                put(place, code, value, trace)

    return put_some


def sweep(rng: Rng, put: Put) -> None:
    correlated, length = int(rng.integers(1, 3)), short(rng, 1)
    for trace in some(rng):
        put(125, "h", correlated, trace)
        put(131, "h", length, trace)


def units(rng: Rng, put: Put) -> None:
    code = int(rng.choice([-1, 5, 6, 255, short(rng, 7)]))
    for trace in some(rng):
        put(89, "h", code, trace)


def in_binary(place: int, *codes: int) -> Callable[[Rng, Put], None]:
    return lambda rng, put: put(place, "h", int(rng.choice(codes)), -1)


KINDS: dict[str, Callable[[Rng, Put], None]] = {  # by words of the note
    "statics ": words(99, 101, 103),
    "lag times ": words(105, 107),
    "datum elevations ": words(53, 57, least=1, most=2**31 - 1, code="i"),
    "mute times up to ": words(113, least=101),
    "instrument gains differ": differing((121, "h", -32768, 32767)),
    "instrument initial gains differ": differing((123, "h", -32768, 32767)),
    "weighting factors": words(169),
    "marked as tests": words(35, least=2, most=2),
    "with a sweep|with their sweep": sweep,
    "years and times of day": words(157, least=1),
    "units of samples differ": differing((203, "h", -32768, 32767)),
    "transduction constants differ": differing((205, "i", -(2**31), 2**31 - 1), (209, "h", -40, 40)),
    "transduction units differ": differing((211, "h", -32768, 32767)),
    "unit of coordinates has code": units,
    "impulse polarity code": in_binary(3257, 1, 2),
    "measurement system of the binary header": in_binary(3255, 3, 256, 512, -1),
}


def matching(kind: str, notes: list[str]) -> int:
    return sum(any(part in note for part in kind.split("|")) for note in notes)


def run(folder: Path, name: str, files: str) -> tuple[bytes, list[str]]:
    """The image, and the notes of the record."""
    done = here("migrate", survey(folder, MIGRATE | {"acquisition.gathers": files, "output.directory": name}))
    assert done.code == 0, done.err
    record = json.loads((folder / name / "run.json").read_text())
    return (folder / name / "image.rsf@").read_bytes(), record["results"]["notes"]


@pytest.mark.parametrize("number", range(COUNT))
def test_each_kind_is_one_note_and_changes_nothing(tmp_path: Path, number: int) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    inputs(tmp_path)
    plain, plain_notes = run(tmp_path, "plain", "recorded.segy")
    assert not scan(tmp_path / "recorded.segy").notes
    data = bytearray((tmp_path / "recorded.segy").read_bytes())

    def put(place: int, code: str, value: int, trace: int) -> None:
        start = 0 if trace < 0 else 3600 + trace * (240 + 4 * SAMPLES)
        struct.pack_into(f">{code}", data, start + place - 1, value)

    chosen = [kind for kind in KINDS if rng.random() < 0.5] or [str(rng.choice(list(KINDS)))]
    for kind in chosen:
        KINDS[kind](rng, put)
    path = tmp_path / "words.segy"
    path.write_bytes(data)
    told = list(scan(path).notes)
    image, notes = run(tmp_path, "words", "words.segy")
    index = index_of(path)
    indexed, indexed_notes = run(tmp_path, "indexed", "survey.parquet")
    assert image == plain
    assert indexed == plain
    assert not index.summary.anomalies
    for lines in (told, list(index.summary.notes), notes, indexed_notes):
        assert {kind: matching(kind, lines) for kind in KINDS} == {kind: int(kind in chosen) for kind in KINDS}, lines
    assert len(told) == len(index.summary.notes) == len(chosen)
    assert len(notes) == len(indexed_notes) == len(plain_notes) + len(chosen)
