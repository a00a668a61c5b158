"""Encodings of snapshots: within their bounds, whatever the shape and the values."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fathometer import _native
from fathometer.base.errors import InputError
from fathometer.seismic.history.encoding import EXPECTED, encoding_of, record_bytes, relative_errors

TOLERANCE = 1e-3
BOUND = {"float16": 2**-11, "int8": 0.5001 / 127, "zfp": TOLERANCE, "wavelet": TOLERANCE}  # of the peak
SHAPES = [(1, 1, 1), (40, 1, 33), (9, 1, 5), (33, 10, 70), (65, 17, 12), (3, 64, 2), (0, 4, 4), (2, 1, 0)]


def there_and_back(name, snapshot):
    if name in EXPECTED:
        pytest.importorskip("hdf5plugin")
    encoding = encoding_of(name, snapshot.shape, snapshot.dtype, TOLERANCE)
    record = np.full(encoding.largest + 64, 77, np.uint8)
    used = encoding.encode(snapshot, record[: encoding.largest])
    assert used <= encoding.largest
    assert (record[encoding.largest :] == 77).all()
    assert not encoding.fixed or used == encoding.largest
    decoded = np.full_like(snapshot, np.nan)
    encoding.decode(record[:used], decoded)
    return decoded, used


def wave(shape, dtype, scale=1.0):
    """A spherical wave with noise, over six orders of magnitude."""
    places = np.meshgrid(*[np.arange(n) - n / 3 for n in shape], indexing="ij")
    r = np.sqrt(sum(x**2 for x in places))
    noise = 1e-6 * np.random.default_rng(1).standard_normal(shape)
    return (scale * (np.cos(0.6 * r) * np.exp(-((r - 12) ** 2) / 60) + noise)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", list(BOUND))
def test_every_cell_is_within_the_bound(name, shape, dtype):
    for scale in (1.0, 1e-30, 1e25):
        snapshot = wave(shape, dtype, scale)
        decoded, _ = there_and_back(name, snapshot)
        peak = np.abs(snapshot).max(initial=0.0)
        assert np.abs(decoded.astype(float) - snapshot).max(initial=0.0) <= BOUND[name] * peak


@pytest.mark.parametrize("name", list(BOUND))
def test_nothing_stays_nothing(name):
    decoded, _ = there_and_back(name, np.zeros((20, 9, 30), np.float32))
    assert not decoded.any()


@pytest.mark.parametrize("name", list(BOUND))
def test_what_does_not_shrink_is_kept(name):
    """Noise of all magnitudes at a bound next to nothing takes at most what it took before."""
    if name in EXPECTED:
        pytest.importorskip("hdf5plugin")
    noise = np.random.default_rng(1).standard_normal((40, 12, 20)) * 10.0 ** np.random.default_rng(2).integers(0, 9)
    encoding = encoding_of(name, noise.shape, noise.dtype, 1e-12)
    record = np.zeros(encoding.largest, np.uint8)
    used = encoding.encode(noise, record)
    assert used <= noise.nbytes + 64
    decoded = np.zeros_like(noise)
    encoding.decode(record[:used], decoded)
    assert np.abs(decoded - noise).max() <= max(BOUND[name] if encoding.fixed else 1e-15, 1e-12) * np.abs(noise).max()


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(1, 20), st.integers(1, 40), st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_blocks_err_by_half_a_step_of_their_own_scale(nx, ny, nz, seed, threads):
    """Cell by cell against the formula, for any shape and number of threads."""
    rng = np.random.default_rng(seed)
    snapshot = (rng.standard_normal((nx, ny, nz)) * 10.0 ** rng.integers(-6, 6, (nx, ny, nz))).astype(np.float32)
    before = _native.threads()
    _native.set_threads(threads)
    decoded, _ = there_and_back("int8", snapshot)
    _native.set_threads(before)
    for x in range(0, nx, 8):
        for y in range(0, ny, 8):
            for z in range(0, nz, 8):
                block = np.s_[x : x + 8, y : y + 8, z : z + 8]
                scale = np.abs(snapshot[block]).max()
                steps = np.rint(snapshot[block].astype(np.float64) / scale * 127)
                assert np.abs(decoded[block] / (scale / 127) - steps).max() <= 1.0001  # ties, and rounding of the scale
                assert np.abs(decoded[block] - snapshot[block]).max() <= 0.5001 * scale / 127


def test_records_are_as_large_as_planned():
    shape = (100, 200, 160)
    told = record_bytes(shape, np.dtype(np.float32))
    plain = 4 * math.prod(shape)
    assert told["float32"] == plain
    assert 0 <= told["int8"] - encoding_of("int8", shape, np.dtype(np.float32), 1.0).largest < 64
    assert told["int8"] < 0.26 * plain
    assert told["float16"] < 0.51 * plain
    snapshot = wave(shape, np.float32)
    for name in EXPECTED:
        assert there_and_back(name, snapshot)[1] <= told[name]


def test_plain_snapshots_have_no_encoding():
    assert encoding_of("float32", (4, 4, 4), np.dtype(np.float64), TOLERANCE) is None


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "hdf5plugin", None)
    with pytest.raises(InputError, match=r'"wavelet" needs the Python package hdf5plugin: pip install'):
        encoding_of("wavelet", (8, 8, 8), np.dtype(np.float32), TOLERANCE)


def test_errors_are_relative_to_norm_and_peak():
    a = np.array([[[3e-30, 4e-30]]], np.float32)
    b = np.array([[[3e-30, 0.0]]], np.float32)
    assert relative_errors(a, b) == (pytest.approx(0.8), pytest.approx(1.0))
    assert relative_errors(0 * a, b) == (0.0, 0.0)
