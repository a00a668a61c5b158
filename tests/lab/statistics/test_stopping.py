"""The stopping rule: when rounds end, and what intervals cover then."""

import pytest
from laws import LAWS, STUDIES, covered_when_stopped, measurements, stopped
from support import FULL

from fathometer.base.errors import InputError
from fathometer.lab.statistics.interval import interval
from fathometer.lab.statistics.stopping import StoppingRule

RULE = StoppingRule(6, 30, 0.05)
RULES = [RULE, *([StoppingRule(6, 60, 0.05), StoppingRule(20, 60, 0.05), StoppingRule(6, 30, 0.2)] if FULL else [])]
# Of a width of 0.05: with the first rounds end soon, with the last seldom before the most.
SPREADS = [0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.06, 0.08] if FULL else [0.01, 0.02, 0.04, 0.06]


def test_the_width_is_the_whole_interval_over_the_median():
    quiet = [100.0, 101.0, 102.0, 102.0, 103.0, 103.0, 104.0, 105.0]
    assert RULE.wide({"a": quiet}) == []
    assert StoppingRule(6, 30, 5.0 / 102.5 * 0.99).wide({"a": quiet}) == ["a"]
    assert RULE.wide({"a": quiet, "b": [*quiet[:7], 110.0], "failed": []}) == ["b"]


def test_fewer_than_seven_values_never_reach_the_level():
    """However close together they are."""
    assert [n for n in range(1, 12) if RULE.wide({"a": [1.0] * n})] == [1, 2, 3, 4, 5, 6]
    assert RULE.wide({"a": [1.0] * 8, "b": [1.0] * 5}) == ["b"]  # failed in some rounds


def test_the_level_of_a_fixed_number_is_the_nominal_one():
    assert StoppingRule(10, 10).level == 0.95
    values = [float(n) for n in range(1, 11)]
    assert StoppingRule(10, 10).interval(values) == interval(values)
    assert RULE.level == 1 - 2**-6


@pytest.mark.parametrize(("least", "most", "width"), [(0, 3, 0.05), (7, 6, 0.05), (6, 30, 0.0), (6, 30, float("nan"))])
def test_impossible_rules_are_one_error(least, most, width):
    with pytest.raises(InputError, match="found"):
        StoppingRule(least, most, width)


@pytest.mark.verify
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rule", RULES)
def test_intervals_cover_although_rounds_end_when_they_are_narrow(law, rule):
    for spread in SPREADS:
        share, _ = covered_when_stopped(law, spread * rule.width / 0.05, rule, studies=4 * STUDIES if FULL else STUDIES)
        assert share >= 0.93, spread


def test_without_the_wider_level_they_would_not():
    """The reason for LEVEL_LOOKED_AT: the same studies, looked at and reported at 95 %."""

    class Naive(StoppingRule):
        level = 0.95

    worst = min(
        covered_when_stopped(law, spread, Naive(6, 60, 0.05), studies=2000)[0]
        for law, spread in [("log-normal", 0.06), ("exponential", 0.08), ("normal", 0.08)]
    )
    assert worst < 0.93


def test_rounds_end_sooner_where_there_is_less_noise():
    rounds = [covered_when_stopped("normal", spread, RULE, studies=200)[1] for spread in (0.005, 0.02, 0.04, 0.2)]
    assert rounds == sorted(rounds)
    assert rounds[0] < 8.5
    assert rounds[-1] == 30


def test_all_figures_must_be_narrow():
    table = measurements("normal", 0.02, (4, 30), 5).tolist()
    assert stopped(RULE, table) == max(stopped(RULE, [values]) for values in table)
