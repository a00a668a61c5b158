"""Series times a band matrix: as NumPy has it, tap by tap, whatever the other series."""

import numpy as np
import pytest

from fathometer import _native


def expected(first, weights, series):
    """The definition: float64, one product after the other."""
    result = np.zeros((len(series), len(first)))
    for j, begin in enumerate(first):
        for tap, weight in enumerate(weights[j]):
            if 0 <= begin + tap < series.shape[1]:
                result[:, j] += weight * series[:, begin + tap].astype(np.float64)
    return result.astype(series.dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("count", "samples", "taps"), [(1, 1, 1), (3, 20, 7), (31, 40, 12), (32, 9, 30), (70, 33, 5)])
def test_products_are_numpys_bit_by_bit(dtype, count, samples, taps):
    random = np.random.default_rng(count)
    series = random.normal(size=(count, samples)).astype(dtype)
    first = random.integers(-2 * taps - 3, samples + 3, size=50)
    weights = random.normal(size=(50, taps))
    result = np.full((count, 50), np.nan, dtype)
    _native.banded(first, weights, series, result)
    assert result.tobytes() == expected(first, weights, series).tobytes()
    one = np.empty((1, 50), dtype)
    _native.banded(first, weights, series[count // 2 : count // 2 + 1], one)
    assert one.tobytes() == result[count // 2].tobytes()


@pytest.mark.parametrize(
    "change",
    [
        {"first": np.zeros(3, np.int64)},
        {"weights": np.zeros((5, 2))},
        {"series": np.zeros((3, 6))},
        {"result": np.zeros((2, 5))},
        {"first": np.full(4, np.iinfo(np.int64).min)},
        {"first": np.full(4, np.iinfo(np.int64).max)},
    ],
    ids=["first", "weights", "series", "result", "below", "above"],
)
def test_arrays_that_do_not_fit_are_refused(change):
    right = {
        "first": np.zeros(4, np.int64),
        "weights": np.zeros((4, 2)),
        "series": np.zeros((2, 6)),
        "result": np.zeros((2, 4)),
    }
    _native.banded(**right)
    with pytest.raises(ValueError, match=r"has the shape|no place"):
        _native.banded(**(right | change))
