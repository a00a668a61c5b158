"""Drift over rounds: found where there is one, its size right, and none of chance."""

import numpy as np
import pytest
from laws import STUDIES, measurements

from fathometer.lab.statistics.drift import FEWEST_ROUNDS, drift


def cases(levels, noise=0.01, seed=1, count=4):
    """Values of cases of different sizes whose rounds have these levels."""
    table = measurements("exponential", noise, (count, len(levels)), seed) * levels
    return [dict(enumerate(((n + 1) * row).tolist())) for n, row in enumerate(table)]


def test_a_linear_drift_is_told_with_its_size():
    found = drift(cases(np.linspace(1, 1.2, 12)))
    assert found.significant
    assert found.low <= 0.2 <= found.high
    assert found.change == pytest.approx(0.2, abs=0.03)
    assert found.rounds == 12
    assert drift(cases(np.linspace(1, 1 / 1.2, 12))).change == pytest.approx(-1 / 6, abs=0.03)


def test_the_test_is_kendalls():
    """By hand: all 15 pairs of 6 rounds rise; 2 / 6!."""
    assert drift([{n: 1.0 + n for n in range(6)}]).p_value == pytest.approx(2 / 720)


def test_a_step_is_told_and_a_bump_in_the_middle_is_not():
    assert drift(cases(np.where(np.arange(20) < 9, 1.0, 1.2))).significant
    assert not drift(cases(1 + 0.2 * np.sin(np.pi * np.arange(20) / 19))).significant


def test_chance_is_seldom_called_drift():
    told = [drift(cases(np.ones(10), seed=seed)).significant for seed in range(STUDIES // 2)]
    assert np.mean(told) < 0.07


def test_a_failed_round_of_one_case_is_no_drift():
    """The case that is ten times as slow lacks the last rounds: relative values do not mind."""
    table = [{n: 1.0 for n in range(10)}, {n: 10.0 for n in range(5)}]
    assert drift(table).change == 0.0
    assert not drift(table).significant


def test_what_cannot_be_tested():
    assert drift([]) is None
    assert drift([{n: 1.0 + n for n in range(FEWEST_ROUNDS - 1)}]) is None
    assert drift([{n: float(n) for n in range(10)}]) is None  # a zero has no ratios
