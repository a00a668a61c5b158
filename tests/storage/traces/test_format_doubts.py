"""Samples of another format than the header says: told where amplitudes tell it, and never of sound ones."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from index_support import found, index_of
from numpy.typing import NDArray
from segy_support import Bytes

from fathometer.base.errors import InputError
from fathometer.storage.traces.sample_formats import from_ibm
from fathometer.storage.traces.segy import scan

Samples = NDArray[np.float32]
PLACES = [{9: 1, 13: n + 1, 73: 1000, 81: 1100 + 10 * n} for n in range(24)]
SHAPE = 24, 400


def shot() -> Samples:
    """Reflections that fade with time, and a little noise: amplitudes of five decades."""
    rng = np.random.default_rng(5)
    time, noise = np.arange(SHAPE[1]) * 0.004, rng.standard_normal(SHAPE)
    series = noise * (rng.random(SHAPE) < 0.05) * np.exp(-2 * time)
    return (np.apply_along_axis(np.convolve, 1, series, np.hanning(9), "same") + 1e-5 * noise).astype(np.float32)


def to_ibm(values: NDArray[np.floating]) -> NDArray[np.uint32]:
    """Normalised IBM floats, rounded down."""
    sizes = np.abs(values.astype(np.float64))
    exponents = np.where(sizes > 0, np.floor(np.log2(np.maximum(sizes, 1e-30)) / 4) + 1, -64).astype(np.int64)
    fractions = (sizes / 16.0**exponents * 2**24).astype(np.int64)
    words = (exponents + 64 << 24) | np.minimum(fractions, 2**24 - 1) | (values < 0).astype(np.int64) << 31
    return np.where(sizes > 0, words, 0).astype(np.uint32)


def as_words(values: NDArray[np.generic]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(values).view(np.uint32)


def written(folder: Path, words: NDArray[np.uint32], code: int, order: str = ">") -> Path:
    """A file of these words whose header says a format code."""
    path = Bytes(words, format=10, trace=PLACES, order=order).write(folder / "a.segy")
    data = bytearray(path.read_bytes())
    struct.pack_into(order + "h", data, 3224, code)
    path.write_bytes(data)
    return path


FORMATS = {
    1: to_ibm,
    2: lambda values: as_words((1e6 * values).astype(np.int32)),
    5: as_words,
}
NAMES = {1: "4-byte IBM floats (code 1)", 2: "4-byte integers (code 2)", 5: "4-byte IEEE floats (code 5)"}


@pytest.mark.parametrize("order", "><")
@pytest.mark.parametrize(("said", "true"), [(1, 5), (5, 1), (2, 5), (2, 1)])
def test_another_kind_of_float_is_a_note_and_an_anomaly(tmp_path: Path, said: int, true: int, order: str) -> None:
    path = written(tmp_path, FORMATS[true](shot()), said, order)
    [note] = scan(path).notes
    assert note.startswith(f"the sample format is {said} (")
    assert f"bytes 3225-3226, but the samples look like {NAMES[true]}" in note
    index = index_of(path)
    assert found(index)["format"] == 1
    assert note in next(one.first for one in index.summary.anomalies if one.key == "format")


@pytest.mark.parametrize("said", [1, 5])
def test_integers_as_floats_are_refused(tmp_path: Path, said: int) -> None:
    path = written(tmp_path, FORMATS[2](shot()), said)
    for read in (scan, index_of):
        with pytest.raises(InputError, match=r"look like 4-byte integers \(code 2\), which as floats are no numbers"):
            read(path)


@pytest.mark.parametrize(
    ("said", "true", "values"),
    [
        (5, 5, shot()),
        (1, 1, shot()),
        (1, 5, shot()),
        (5, 5, np.rint(1e4 * shot()).astype(np.float32)),  # the last bytes are 0: swapped, they look like integers
        (5, 5, from_ibm(to_ibm(shot()))),
    ],
)
def test_swapped_bytes_are_refused(tmp_path: Path, said: int, true: int, values: Samples) -> None:
    path = written(tmp_path, FORMATS[true](values).byteswap(), said)
    for read in (scan, index_of):
        with pytest.raises(InputError, match=r"but the samples look like .* with their bytes in the other order: swap"):
            read(path)


def sound() -> dict[str, NDArray[np.floating]]:
    """Samples that real files hold."""
    rng, plain = np.random.default_rng(3), shot()
    noise = rng.standard_normal(SHAPE)
    return {
        "reflections": plain,
        "noise": noise,
        "large": 1e9 * plain,
        "small": 1e-12 * plain,
        "tiny": 1e-37 * plain,
        "of 16 bits": np.rint(3e4 * plain / np.abs(plain).max()),
        "of 12 bits": np.rint(300 * noise),
        "of 24 bits, scaled": np.rint(1e6 * noise) * 2.4e-7,
        "clipped": np.clip(noise, -0.5, 0.5),
        "to 1 in each trace": noise / np.abs(noise).max(axis=1, keepdims=True),
        "about a constant": 1.5 + 1e-3 * noise,
        "about the edge of an interval": 2.0 + 0.1 * noise,
        "about the end of an interval": 2.25 + 0.1 * noise,
        "exponential": np.exp(5 * noise),
        "uniform": rng.random(SHAPE),
        "steps": np.sign(noise) + 0.01 * rng.standard_normal(SHAPE),
        "velocities": np.linspace(1500, 5500, plain.size).reshape(SHAPE),
        "a sine": np.sin(0.05 * np.arange(plain.size)).reshape(SHAPE),
        "one sample": np.where(np.arange(plain.size) == 77, 1.0, 0.0).reshape(SHAPE),
        "zeros": np.zeros(SHAPE),
        "a constant": np.full(SHAPE, 3.7),
        "with spikes": np.where(rng.random(SHAPE) < 0.001, 1e30, plain),
        "of few bits": from_ibm(to_ibm(plain) & np.uint32(0xFFFFF000)),
        "from IBM": from_ibm(to_ibm(plain)),
    }


@pytest.mark.parametrize("code", [1, 5])
@pytest.mark.parametrize("name", sound())
def test_sound_samples_have_no_note(tmp_path: Path, name: str, code: int) -> None:
    values = sound()[name].astype(np.float32)
    assert scan(written(tmp_path, FORMATS[code](values), code)).notes == ()


@pytest.mark.parametrize("values", [shot(), np.zeros(SHAPE), 900 + shot(), 3e-4 * shot()], ids=range(4))
def test_sound_integers_have_no_note(tmp_path: Path, values: Samples) -> None:
    assert scan(written(tmp_path, FORMATS[2](values), 2)).notes == ()


def test_ibm_floats_with_leading_zeros_have_no_note(tmp_path: Path) -> None:
    """Integers whose point was not moved: the first digit of the fraction is often 0."""
    values = np.rint(1e5 * np.random.default_rng(2).standard_normal(SHAPE)).astype(np.int64)
    words = (0x46 << 24) | np.abs(values) | (values < 0).astype(np.int64) << 31
    assert scan(written(tmp_path, words.astype(np.uint32), 1)).notes == ()


def test_few_samples_tell_nothing(tmp_path: Path) -> None:
    assert scan(written(tmp_path, as_words(np.ascontiguousarray(shot()[:, :30])), 1)).notes == ()
