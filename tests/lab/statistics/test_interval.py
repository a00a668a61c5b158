"""The interval of a median: ranks as published, coverage as promised."""

import math
from statistics import median

import numpy as np
import pytest
from laws import LAWS, STUDIES, covered
from support import FULL

from fathometer.base.errors import InputError
from fathometer.lab.statistics.interval import Estimate, interval, ranks

MANY = 20 * STUDIES if FULL else STUDIES


@pytest.mark.parametrize(("n", "low", "high"), [(6, 0, 5), (7, 0, 6), (9, 1, 7), (15, 3, 11), (20, 5, 14)])
def test_ranks_are_those_of_the_tables(n, low, high):
    """Conover 1999."""
    values = np.random.default_rng(3).permutation(np.arange(float(n))).tolist()
    found = interval(values, interpolated=False)
    assert (found.low, found.high, found.count) == (low, high, n)
    assert found.median == median(values)
    assert found.coverage >= 0.95
    assert math.isclose(found.coverage, 1 - sum(math.comb(n, k) for k in range(low + 1)) / 2 ** (n - 1))


def test_interpolation_is_that_of_the_paper():
    """By hand from the formula of Hettmansperger & Sheather, n = 20: C(6) = 0.9586, C(7) = 0.8847."""
    part = (0.958610535 - 0.95) / (0.958610535 - 0.884682)
    weight = 14 * part / (6 + 8 * part)
    found = interval([float(n) for n in range(20)])
    assert found.low == pytest.approx(5 + weight, abs=1e-4)
    assert found.high == pytest.approx(14 - weight, abs=1e-4)
    assert found.coverage == 0.95


@pytest.mark.parametrize("n", [20, 25, 30, 51])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.96875, 0.999])
def test_the_interpolated_interval_is_between_the_exact_ones(n, level):
    values = np.random.default_rng(4).normal(size=n).tolist()
    found, outer = interval(values, level), interval(values, level, interpolated=False)
    inner = sorted(values)[ranks(n, level).k]
    assert outer.low <= found.low <= inner
    assert outer.coverage >= level == found.coverage


def test_few_values_say_how_little_they_cover():
    assert interval([3.0, 1.0, 2.0]).coverage == 0.75
    assert not interval([3.0, 1.0, 2.0]).reaches()
    assert interval([1.0]) == Estimate(1.0, 1.0, 1.0, 0.0, 1)
    assert interval([1.0, 2.0], 0.4).coverage == 0.5


def test_many_values():
    """Against the normal approximation of the binomial law."""
    n = 5001
    found = interval(np.random.default_rng(6).permutation(np.arange(float(n))).tolist())
    assert found.low == pytest.approx((n - 1) / 2 - 1.96 * math.sqrt(n * found.inflation) / 2, abs=1)
    assert found.low + found.high == n - 1


@pytest.mark.parametrize(
    ("values", "level", "words"),
    [
        ([], 0.95, "no values"),
        ([1.0, math.nan], 0.95, "found the value nan"),
        ([1.0], 1.0, "found 1.0"),
        ([float(n) for n in range(40)], 1.0, "found 1.0"),  # that depend on each other
    ],
)
def test_what_has_no_interval_is_one_error(values, level, words):
    with pytest.raises(InputError, match=words):
        interval(values, level)


def test_widths():
    assert interval([2.0] * 6).relative_width == 0.0
    assert interval([0.0] * 6).relative_width == 0.0
    assert interval([-1.0, 1.0]).relative_width == math.inf
    assert Estimate(-2.0, -3.0, -1.0, 0.95, 6).relative_width == 1.0
    assert Estimate(2.0, 1.0, 4.0, 0.95, 6).mapped(lambda x: 1 / x) == Estimate(0.5, 0.25, 1.0, 0.95, 6)


@pytest.mark.verify
@pytest.mark.parametrize("law", LAWS)
def test_intervals_cover(law):
    for count in range(6, 20) if FULL else (6, 7, 8, 10, 15, 19):
        assert covered(law, count, MANY) >= 0.93, count
    for count in range(20, 60) if FULL else (20, 21, 30):
        assert 0.93 <= covered(law, count, MANY) <= 0.97, count
