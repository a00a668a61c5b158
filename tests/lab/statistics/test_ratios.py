"""Ratios within rounds, and which of them are differences."""

import math
from itertools import product

import numpy as np
import pytest
from laws import STUDIES, measurements, stopped

from fathometer.base.errors import InputError
from fathometer.lab.statistics.dependence import FEWEST_DEPENDENT
from fathometer.lab.statistics.differences import differences, rounds_needed, sign_test
from fathometer.lab.statistics.interval import interval
from fathometer.lab.statistics.ratios import paired_ratios, ratio, ratio_interval
from fathometer.lab.statistics.stopping import StoppingRule

RULE = StoppingRule(6, 30, 0.05)


def by_round(values):
    return dict(enumerate(values))


def test_ratios_are_those_of_rounds_that_both_have():
    a, b = {0: 2.0, 1: 3.0, 3: 8.0, 4: 1.0}, {0: 1.0, 2: 5.0, 3: 2.0, 4: 1.0}
    assert paired_ratios(a, b) == [2.0, 4.0, 1.0]
    assert ratio(a, b).median == pytest.approx(2.0)
    assert ratio(a, {}) is None
    assert ratio({0: 1.0, 1: 0.0}, {0: 1.0, 1: 1.0}) is None
    assert paired_ratios({0: 1.0, 1: -1.0}, {0: 1.0}) == [1.0]


@pytest.mark.parametrize("count", [6, 7, 20, 21])
def test_the_inverse_ratio_is_one_over_it(count):
    a, b = (by_round(values) for values in measurements("exponential", 0.3, (2, count), 1).tolist())
    there, back = ratio(a, b), ratio(b, a)
    assert back.median == pytest.approx(1 / there.median, rel=1e-12)
    assert (back.low, back.high) == pytest.approx((1 / there.high, 1 / there.low), rel=1e-12)


def test_what_disturbs_a_whole_round_leaves_ratios_alone():
    rounds = np.exp(np.random.default_rng(2).normal(0, 0.5, 20))
    noise = measurements("normal", 0.01, (2, 20), 3)
    a, b = (by_round(values) for values in (rounds * noise * [[2.0], [1.0]]).tolist())
    assert ratio(a, b).median == pytest.approx(2.0, rel=0.02)
    assert ratio(a, b).relative_width < 0.05
    assert interval([*a.values()]).relative_width > 0.3


@pytest.mark.parametrize("law", ["log-normal", "two modes, 6 : 4"])
@pytest.mark.parametrize("rule", [StoppingRule(20, 20), RULE], ids=["fixed", "stopped"])
def test_intervals_of_ratios_cover(law, rule):
    held = []
    for a, b in measurements(law, 0.03, (STUDIES, 2, rule.most), 4).tolist():
        count = stopped(rule, [a, b])
        held.append(ratio(by_round(a[:count]), by_round(b[:count]), rule.level).holds(1.0))
    assert np.mean(held) >= 0.93


@pytest.mark.parametrize(
    ("ratios", "p_value"),
    [
        ([2.0] * 6, 2 / 64),
        ([0.5] * 6, 2 / 64),
        ([2.0] * 5 + [0.5], 14 / 64),
        ([2.0] * 5 + [1.0], 14 / 64),
        ([1.0], 1.0),
    ],
)
def test_the_sign_test_by_hand(ratios, p_value):
    assert sign_test(ratios) == p_value


def test_the_interval_leaves_1_exactly_where_the_test_says_so():
    source = np.random.default_rng(5)
    for count, allowed in product((1, 5, 6, 9, 20, 30, 40, 81), (0.3, 0.05, 1 / 32, 0.01, 0.001)):
        for shift in (0.0, 0.3, 0.6, 1.0, 3.0):
            ratios = np.exp(source.normal(shift, 1, count)).tolist()
            found = ratio_interval(ratios, 1 - allowed, interpolated=False)
            leaves = found.coverage >= 1 - allowed and not found.holds(1.0)
            assert leaves == (sign_test(ratios) <= allowed), (count, allowed, ratios)


def test_holms_steps_by_hand():
    """p-values of 2/1024, 22/1024, 112/1024 with 0.05 / 3, 0.05 / 2 and 0.05."""
    table = {"some": [2.0] * 8 + [0.5] * 2, "all": [2.0] * 10, "most": [2.0] * 9 + [0.5]}
    found = differences(table)
    assert [*found] == [*table]
    assert {name: one.p_value * 1024 for name, one in found.items()} == {"all": 2, "most": 22, "some": 112}
    assert {name: one.differs for name, one in found.items()} == {"all": True, "most": True, "some": False}
    # A step that is refused refuses what follows, also where this would be below its own limit.
    found = differences({"a": [2.0] * 9 + [0.5], "b": [2.0] * 9 + [0.5], "c": [2.0] * 9 + [0.5]})
    assert not any(one.differs for one in found.values())
    assert not any(found[name].corrected.low > 1 for name in "abc")


def test_how_many_rounds_can_tell_a_difference():
    assert rounds_needed(1) == 6
    for comparisons in (1, 2, 7, 40, 1000):
        needed = rounds_needed(comparisons)
        for count, differs in ((needed, True), (needed - 1, False)):
            table = {n: [2.0 + n] * count for n in range(comparisons)}
            found = differences(table)
            assert {one.differs for one in found.values()} == {differs}
            assert {one.could_differ for one in found.values()} == {differs}
            assert {one.rounds_needed for one in found.values()} == {needed}
    assert differences({}) == {}


def test_a_comparison_without_ratios_is_an_error():
    with pytest.raises(InputError, match="without ratios"):
        differences({"a": []})


@pytest.mark.parametrize("count", range(1, FEWEST_DEPENDENT))
def test_one_comparison_is_false_in_less_than_5_percent(count):
    """Exactly, for any law: each number of ratios above 1 has the probability of a coin's."""
    false = sum(
        math.comb(count, above) * (sign_test([2.0] * above + [0.5] * (count - above)) <= 0.05)
        for above in range(count + 1)
    )
    assert false / 2**count <= 0.05


def false_differences(rule, law, spread, others, studies, seed):
    """The share of studies of cases that are all the same in which any seems to differ from the first."""
    wrong = 0
    for table in measurements(law, spread, (studies, 1 + others, rule.most), seed).tolist():
        count = stopped(rule, table)
        base, *rest = (by_round(values[:count]) for values in table)
        found = differences({n: paired_ratios(case, base) for n, case in enumerate(rest)}, rule.level)
        wrong += any(one.differs for one in found.values())
    return wrong / studies


@pytest.mark.parametrize("others", [1, 7])
@pytest.mark.parametrize("law", ["normal", "exponential", "two modes, 1 : 1"])
@pytest.mark.parametrize("rule", [StoppingRule(12, 12), StoppingRule(20, 20), RULE], ids=["12", "20", "stopped"])
def test_false_differences_are_rare(rule, law, others):
    assert false_differences(rule, law, 0.03, others, 5 * STUDIES if others == 1 else STUDIES, 1) < 0.05


def test_without_correction_they_would_not_be():
    """The reason for Holm's steps: seven comparisons, each at 5 % by itself."""
    wrong = 0
    for table in measurements("normal", 0.03, (300, 8, 20), 7).tolist():
        base, *rest = (by_round(values) for values in table)
        wrong += any(sign_test(paired_ratios(case, base)) <= 0.05 for case in rest)
    assert wrong / 300 > 0.1


def test_true_differences_are_found():
    """One case of eight is 3 % slower, with 1 % of noise: of 20 rounds, nearly every study finds it, and it alone."""
    found_it, more = 0, 0
    for table in measurements("normal", 0.01, (200, 8, 20), 8).tolist():
        base, slow, *rest = (by_round(values) for values in table)
        slow = {number: 1.03 * value for number, value in slow.items()}
        found = differences({n: paired_ratios(case, base) for n, case in enumerate([slow, *rest])})
        found_it += found[0].differs and math.isclose(found[0].corrected.median, 1.03, rel_tol=0.02)
        more += any(found[n].differs for n in range(1, 7))
    assert found_it > 190
    assert more < 10
