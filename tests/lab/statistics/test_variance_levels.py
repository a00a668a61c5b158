"""How much of a spread is between runs, sessions and days, against the truth that it was drawn from."""

import math

import numpy as np
import pytest

from fathometer.lab.statistics.variance_levels import variance_levels


def drawn(days, sessions, runs, spreads, seed, cases=4):
    """Values of cases by day and session; spreads: of days, sessions and runs."""
    source = np.random.default_rng(seed)
    made = []
    for case in range(cases):
        values = {}
        for day in range(days):
            of_day = source.normal(0, spreads[0])
            for session in range(sessions):
                level = of_day + source.normal(0, spreads[1])
                values[day, day * sessions + session] = (
                    (1 + case) * np.exp(level + source.normal(0, spreads[2], runs))
                ).tolist()
        made.append(values)
    return made


def deviations(cases):
    return {level.between: level.deviation for level in variance_levels(cases)}


@pytest.mark.parametrize("spreads", [(0.05, 0.03, 0.01), (0.0, 0.04, 0.02), (0.06, 0.0, 0.02)])
def test_each_level_has_what_it_brings(spreads):
    many = [deviations(drawn(6, 4, 8, spreads, seed)) for seed in range(60)]
    for name, truth in zip(("day", "session", "run"), spreads, strict=True):
        found = math.sqrt(np.mean([one[name] ** 2 for one in many]))
        if truth:
            assert found == pytest.approx(truth, rel=0.15), name
        else:  # what is left of estimates about zero, of which negative ones are zero
            assert found < 0.25 * max(spreads), name


def test_of_one_day_there_are_no_days():
    found = variance_levels(drawn(1, 5, 10, (0.0, 0.05, 0.01), 1))
    assert [level.between for level in found] == ["run", "session"]
    assert found[1].groups == 5
    assert found[1].deviation == pytest.approx(0.05, rel=0.4)


def test_of_one_session_nothing_is_said():
    assert variance_levels(drawn(1, 1, 10, (0.0, 0.0, 0.01), 1)) == []
    assert variance_levels([]) == []


def test_one_run_far_away_is_not_all_that_is_seen():
    [case] = drawn(1, 4, 10, (0.0, 0.0, 0.01), 2, cases=1)
    case[0, 0][3] *= 50
    assert deviations([case])["run"] < 0.02


def test_sessions_by_hand():
    """Three of four runs: what runs leave in the means of sessions does not count as theirs."""
    means, beside = (0.0, 0.02, 0.04), (-0.03, -0.01, 0.01, 0.03)
    case = {("day", n): [math.exp(mean + x) for x in beside] for n, mean in enumerate(means)}
    of_runs = 3 * sum(x**2 for x in beside) / 9
    of_sessions = sum((mean - 0.02) ** 2 for mean in means) / 2 - of_runs / 4
    assert deviations([case]) == pytest.approx({"run": math.sqrt(of_runs), "session": math.sqrt(of_sessions)}, rel=1e-3)
