"""The order of rounds, and what it keeps out of ratios."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from laws import STUDIES

from fathometer.lab.statistics.ratios import ratio
from fathometer.lab.studies.order import order

CASES = ["a", "b", "c", "d"]
ORDERS = [["c", "d", "b", "a"], ["b", "a", "d", "c"]]
SECONDS = {"a": 1.0, "b": 2.0, "c": 5.0, "d": 10.0}
# Over a study, from 0 to 1; 20 % each.
DRIFTS = {
    "linear": lambda t: 1 + 0.2 * t,
    "sine": lambda t: 1 + 0.1 * np.sin(2 * np.pi * t),
    "step": lambda t: 1.0 if t < 0.43 else 1.2,
}


def test_every_case_once_in_an_order_and_its_reverse():
    for pair in range(20):
        there, back = order(CASES, 2 * pair, 1), order(CASES, 2 * pair + 1, 1)
        assert sorted(there) == CASES
        assert back == there[::-1]


def test_orders_depend_on_the_seed_and_the_pair_alone():
    assert CASES == ["a", "b", "c", "d"]
    assert len({tuple(order(CASES, 2 * pair, 1)) for pair in range(100)}) > 20
    assert len({tuple(order(CASES, 0, seed)) for seed in range(100)}) > 20
    # Of any version of the program: studies that were interrupted go on.
    assert [order(CASES, number, 1) for number in (0, 2)] == ORDERS


def test_each_case_is_as_often_at_each_place():
    first = Counter(order(CASES, 2 * pair, 3)[0] for pair in range(2000))
    assert max(first.values()) < 1.15 * min(first.values())


def errors(drift, rounds, seed, orders=order):
    """The relative error of the ratio of each two cases, in a study without noise."""
    sequence = [(number, case) for number in range(rounds) for case in orders(CASES, number, seed)]
    ends = np.cumsum([SECONDS[case] for _, case in sequence])
    values = {case: {} for case in CASES}
    for (number, case), end in zip(sequence, ends, strict=True):
        values[case][number] = SECONDS[case] * drift((end - SECONDS[case] / 2) / ends[-1])
    return np.array(
        [
            ratio(values[one], values[other]).median / (SECONDS[one] / SECONDS[other]) - 1
            for one, other in combinations(CASES, 2)
        ]
    )


@pytest.mark.parametrize("rounds", [6, 8, 10, 20, 30])
@pytest.mark.parametrize("kind", DRIFTS)
def test_drift_of_20_percent_biases_no_ratio_by_1_percent(kind, rounds):
    """The mean over orders; with a line or a step, and with many rounds, every single study."""
    found = np.array([errors(DRIFTS[kind], rounds, seed) for seed in range(STUDIES // 10)])
    assert np.abs(found.mean(axis=0)).max() < 0.01
    if kind != "sine" or rounds >= 20:
        assert np.abs(found).max() < 0.01


def test_without_the_reverse_it_would():
    assert np.abs(errors(DRIFTS["linear"], 6, 1, lambda cases, number, seed: list(cases))).max() > 0.015
