"""Values that depend on those before them: intervals and differences that allow for it from 40 on."""

import math
from itertools import pairwise

import numpy as np
import pytest
from laws import STUDIES
from scipy.stats import f_oneway

from fathometer.lab.statistics.dependence import FEWEST_DEPENDENT, MOST_CORRELATED, dependence, normal_scores
from fathometer.lab.statistics.differences import differences
from fathometer.lab.statistics.interval import interval, ranks


def correlated(rho, studies, count, seed, law=lambda x: x):
    """Series of a serial correlation, studies × count; the median is law(0)."""
    noise = np.random.default_rng(seed).normal(size=(studies, count))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0]
    for n in range(1, count):
        series[:, n] = rho * series[:, n - 1] + math.sqrt(1 - rho**2) * noise[:, n]
    return law(series)


@pytest.mark.parametrize("count", [40, 80])
@pytest.mark.parametrize(("rho", "least"), [(0.0, 0.93), (0.3, 0.92), (0.6, 0.92), (0.8, 0.90)])
@pytest.mark.parametrize("law", [lambda x: x, np.exp], ids=["normal", "log-normal"])
def test_intervals_cover_values_that_depend_on_each_other(rho, least, count, law):
    series = correlated(rho, 2 * STUDIES, count, 1, law).tolist()
    assert np.mean([interval(values).holds(law(0.0)) for values in series]) >= least


def test_without_it_they_would_not():
    """The reason for all this: what is taken for independent covers three quarters."""
    series = np.sort(correlated(0.6, STUDIES, 40, 2), axis=1)
    held = [ends[0] <= 0 <= ends[1] for ends in (ranks(40).ends(values) for values in series.tolist())]
    assert np.mean(held) < 0.8


def test_differences_of_equal_cases_stay_rare():
    ratios = np.exp(correlated(0.6, 4 * STUDIES, 60, 3)).tolist()
    assert np.mean([differences({"": values})[""].differs for values in ratios]) < 0.08


def test_the_inflation_is_that_of_the_series():
    """From the arcsine law, of a long series; no order and no law matters but the correlation."""
    [series] = correlated(0.6, 1, 20000, 4)
    wanted = 1 + 4 / math.pi * sum(math.asin(0.6**k) for k in range(1, 60))
    assert dependence(series.tolist()).inflation == pytest.approx(wanted, rel=0.05)
    assert dependence(np.exp(series).tolist()).inflation == pytest.approx(dependence(series.tolist()).inflation)
    # and it is how much larger the variance of the median is
    medians = [np.var(np.median(correlated(rho, 4000, 201, 5), axis=1)) for rho in (0.0, 0.6)]
    assert medians[1] / medians[0] == pytest.approx(wanted, rel=0.1)


def test_what_is_taken_for_independent():
    assert dependence(list(range(FEWEST_DEPENDENT - 1))).inflation == 1.0
    assert dependence([1.0] * 50).inflation == 1.0
    assert dependence([1.0, 2.0] * 25).inflation == 1.0


def test_a_trend_leaves_no_interval():
    """Values that only rise are as good as a few: the whole range, which covers less than the level."""
    found = interval([float(n) for n in range(40)])
    assert (found.low, found.high) == (0.0, 39.0)
    assert not found.reaches()


def test_scores_share_ranks():
    assert normal_scores([2.0, 1.0, 2.0]).tolist() == pytest.approx([0.3186, -0.6745, 0.3186], abs=1e-4)


def in_sessions(share, studies, sessions, each, seed):
    """Values of which a share of the variance is between sessions, studies × values; and the session of each."""
    source = np.random.default_rng(seed)
    common = source.normal(size=(studies, sessions, 1)) * math.sqrt(share)
    values = common + source.normal(size=(studies, sessions, each)) * math.sqrt(1 - share)
    return values.reshape(studies, -1), np.repeat(np.arange(sessions), each).tolist()


@pytest.mark.parametrize(("sessions", "each"), [(3, 10), (5, 6), (10, 4)])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9])
def test_intervals_cover_values_of_several_sessions(share, sessions, each):
    values, of = in_sessions(share, 2 * STUDIES, sessions, each, 6)
    assert np.mean([interval(one, sessions=of).holds(0.0) for one in values.tolist()]) >= 0.93


def test_rounds_alone_do_not_know_how_far_sessions_differ():
    values, _ = in_sessions(0.5, STUDIES, 5, 6, 7)
    assert np.mean([interval(one).holds(0.0) for one in values.tolist()]) < 0.8


def test_differences_of_equal_cases_stay_rare_in_sessions():
    values, of = in_sessions(0.5, 2 * STUDIES, 5, 6, 8)
    ratios = np.exp(values).tolist()
    assert np.mean([differences({"": one}, sessions={"": of})[""].differs for one in ratios]) < 0.06


def test_two_sessions_that_differ_have_no_interval():
    values = [1.0, 1.1, 1.2, 1.05, 1.15, 2.0, 2.1, 2.2, 2.05, 2.15]
    assert interval(values).reaches()
    assert not interval(values, sessions=[1] * 5 + [2] * 5).reaches()


def test_a_difference_that_sessions_hide_could_not_be_told():
    """Twice as slow in every round, but by 1.5 in one session and by 3 in the other."""
    ratios = [1.5, 1.51, 1.49, 1.5, 1.52, 3.0, 3.01, 2.99, 3.02, 3.0]
    assert differences({"": ratios})[""].differs
    found = differences({"": ratios}, sessions={"": [1] * 5 + [2] * 5})[""]
    assert not found.differs
    assert not found.could_differ


def test_sessions_that_do_not_differ_widen_nothing():
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    assert interval(values, sessions=[1, 2] * 4) == interval(values)
    assert interval(values, sessions=[1] * 8) == interval(values)


def test_the_correlation_of_a_short_series_is_corrected_for_its_bias():
    """By (1 + 3 r) / n."""
    [series] = correlated(0.3, 1, FEWEST_DEPENDENT, 9)
    scores = normal_scores(series.tolist()).tolist()
    r = sum(a * b for a, b in pairwise(scores)) / sum(a * a for a in scores)
    r += (1 + 3 * r) / FEWEST_DEPENDENT
    assert 0.1 < r < 0.9
    wanted = 1 + 4 / math.pi * sum(math.asin(r**k) for k in range(1, FEWEST_DEPENDENT))
    assert dependence(series.tolist()).inflation == pytest.approx(wanted)


@pytest.mark.parametrize("counts", [(4, 4, 4), (2, 5, 3, 6)])
def test_what_sessions_share_is_that_of_the_analysis_of_variance(counts):
    """With the F of SciPy."""
    source = np.random.default_rng(10)
    values = [source.normal(1.5 * place, 1.0, count) for place, count in enumerate(counts)]
    scores = normal_scores(np.concatenate(values).tolist())
    ratio = f_oneway(*np.split(scores, np.cumsum(counts)[:-1])).statistic
    assert ratio > 1
    n, k, each = sum(counts), len(counts), sum(count**2 for count in counts) / sum(counts)
    share = (ratio - 1) / (ratio + (n - each) / (k - 1) - 1)
    found = dependence(np.concatenate(values).tolist(), np.repeat(range(k), counts).tolist())
    assert found.inflation == pytest.approx(1 + (each - 1) * 2 / math.pi * math.asin(share))
    assert found.freedom == k - 1


@pytest.mark.filterwarnings("error")
def test_sessions_of_one_value_each_tell_nothing():
    assert dependence([1.0, 2.0, 3.0], [1, 2, 3]).inflation == 1.0


@pytest.mark.filterwarnings("error")
def test_no_values_are_more_alike_than_the_largest_correlation():
    wanted = 1 + 4 / math.pi * sum(math.asin(MOST_CORRELATED**k) for k in range(1, 200))
    assert dependence([float(n) for n in range(200)]).inflation == pytest.approx(wanted)
