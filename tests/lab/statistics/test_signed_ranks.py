"""Ratios of pairs made in turns: the signed-rank interval against its tables and by simulation."""

import math

import numpy as np
import pytest
from laws import STUDIES, measurements
from scipy.stats import wilcoxon

from fathometer.base.errors import InputError
from fathometer.lab.statistics.ratios import ratio_interval
from fathometer.lab.statistics.signed_ranks import _ends, shift_of_ratios


@pytest.mark.parametrize(("n", "skipped"), [(5, 0), (6, 2), (8, 5), (10, 10), (20, 60)])
def test_critical_values_are_those_of_the_tables(n, skipped):
    """One-sided 5 %: Wilcoxon's critical sums of ranks, of which the averages that are left out are as many."""
    found, coverage = _ends(n, 0.90)
    assert found == skipped
    assert coverage >= 0.90


def test_the_interval_leaves_1_where_wilcoxons_test_says_so():
    source = np.random.default_rng(1)
    for shift in (0.0, 0.3, 0.6, 1.0):
        for n in (6, 9, 15, 25):
            values = source.normal(shift, 1, n)
            p_value = wilcoxon(values, method="exact").pvalue
            for level in (0.9, 0.95, 0.99):
                found = shift_of_ratios(np.exp(values).tolist(), level)
                assert (found.coverage >= level and not found.holds(1.0)) == (p_value <= 1 - level + 1e-12)


@pytest.mark.parametrize("law", ["normal", "exponential", "two modes, 7 : 3"])
def test_it_covers_ratios_of_equal_programs(law):
    held = [
        shift_of_ratios((a / b).tolist(), 0.9).holds(1.0) for a, b in measurements(law, 0.03, (2 * STUDIES, 2, 10), 2)
    ]
    assert np.mean(held) >= 0.88


def test_it_is_narrower_than_that_of_the_sign_test():
    ratios = [(a / b).tolist() for a, b in measurements("normal", 0.03, (STUDIES, 2, 20), 3)]
    own = np.mean([shift_of_ratios(values).relative_width for values in ratios])
    sign = np.mean([ratio_interval(values).relative_width for values in ratios])
    assert own < 0.9 * sign


def test_the_inverse_is_one_over_it():
    ratios = measurements("exponential", 0.3, (11,), 4).tolist()
    there, back = shift_of_ratios(ratios), shift_of_ratios([1 / value for value in ratios])
    assert (1 / back.median, 1 / back.high, 1 / back.low) == pytest.approx((there.median, there.low, there.high))


def test_few_say_how_little_they_cover():
    assert shift_of_ratios([2.0]).coverage == 0.0
    assert not shift_of_ratios([1.0, 1.1, 1.2, 1.3], 0.9).reaches(0.9)
    assert shift_of_ratios([1.0, 1.1, 1.2, 1.3, 1.4], 0.9).reaches(0.9)


@pytest.mark.parametrize("ratios", [[], [1.0, 0.0], [1.0, math.inf]])
def test_what_is_no_ratio_is_one_error(ratios):
    with pytest.raises(InputError, match="allowed"):
        shift_of_ratios(ratios)
