"""Whole studies of synthetic applications whose laws are known: what the engine reports, against the truth.

The runs are made up, the rounds, their orders, the stopping rule and the choice of winners are the engine's own.
"""

from __future__ import annotations

import math
import random

from fathometer.lab.statistics.differences import differences
from fathometer.lab.statistics.ratios import paired_ratios, ratio
from fathometer.lab.statistics.stopping import StoppingRule
from fathometer.lab.statistics.winners import winner
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.results import CaseRuns, Run
from fathometer.lab.studies.rounds import Limits, Rounds

STUDIES = 1000


class Work:
    """Runs whose seconds are drawn: the case's median times a log-normal factor times what the machine does then."""

    together = False

    def __init__(self, medians, spread, seed, drift=lambda made: 1.0):
        self._medians, self._spread, self._drift = medians, spread, drift
        self._source, self._made = random.Random(seed), 0

    def run(self, case, kind, number, tell):
        factor = self._drift(self._made) * math.exp(self._spread * self._source.gauss(0.0, 1.0))
        self._made += 1
        seconds = self._medians[case.settings["n"]] * factor
        return Run(kind, number, 0.0, seconds, {"t": seconds})

    def tidy(self, case, run):
        pass

    def stop(self):
        pass


class Silent:
    def began(self, *_):
        pass

    def ended(self, *_):
        pass

    def state(self, *_):
        pass


def study(medians, rule, seed, spread=0.1, drift=lambda made: 1.0, again=False):
    """Values of each case by round, and of the winner's fresh runs."""
    cases = [Case({"n": n}) for n in range(len(medians))]
    limits = Limits(rule.least, rule.most, 0, seed, None)
    work = Work(medians, spread, seed, drift)
    rounds = Rounds(cases, {}, limits, work, lambda *_: None, Silent(), lambda: 0.0)
    rounds.measure(
        lambda runs: not rule.wide({name: [run.figures["t"] for run in some] for name, some in runs.items()})
    )
    values = [CaseRuns(case, rounds.runs[case.name]).values("t") for case in cases]
    if not again:
        return values
    won = winner(dict(enumerate(values)), "lower", seed).setting
    rounds.measure_again([cases[won].name])
    return values, won, CaseRuns(cases[won], rounds.runs[cases[won].name]).values("t", "winner")


def test_intervals_cover_the_truth_under_the_stopping_rule():
    rule = StoppingRule(6, 30, 0.1)
    held, rounds = 0, []
    for seed in range(STUDIES):
        [values] = study([2.0], rule, seed)
        rounds.append(len(values))
        estimate = rule.interval(list(values.values()))
        held += estimate.low <= 2.0 <= estimate.high
    assert held >= 0.93 * STUDIES
    assert len(set(rounds)) > 5  # the rule decided


def test_ratios_cover_the_truth():
    rule = StoppingRule(6, 30, 0.1)
    held = 0
    for seed in range(STUDIES):
        one, other = study([2.0, 3.0], rule, seed)
        estimate = ratio(one, other, rule.level)
        held += estimate.low <= 2 / 3 <= estimate.high
    assert held >= 0.93 * STUDIES


def test_equal_cases_are_not_told_apart():
    rule = StoppingRule(8, 20, 0.1)
    false = 0
    for seed in range(STUDIES):
        first, *others = study([2.0] * 4, rule, seed)
        ratios = {n: paired_ratios(other, first) for n, other in enumerate(others)}
        false += any(found.differs for found in differences(ratios, rule.level).values())
    assert false < 0.05 * STUDIES


def test_a_winner_looks_better_than_it_is_until_it_is_measured_again():
    rule = StoppingRule(6, 6)
    chosen, fresh = [], []
    for seed in range(STUDIES):
        values, won, again = study([2.0] * 8, rule, seed, again=True)
        chosen.append(sorted(values[won].values())[3])
        fresh.append(sorted(again.values())[3])
    below = sum(value < 2.0 for value in fresh) / STUDIES
    assert sum(value < 2.0 for value in chosen) > 0.9 * STUDIES
    # The fourth of six values is below the median with probability 22/64.
    assert abs(below - 22 / 64) < 4 * math.sqrt(22 / 64 * 42 / 64 / STUDIES)


def test_a_drift_of_a_fifth_biases_no_ratio():
    rule = StoppingRule(6, 6)
    medians = [2.0, 3.0, 2.5, 4.0]
    made = 6 * len(medians)
    for seed in range(50):
        values = study(medians, rule, seed, spread=0.0, drift=lambda n: 1.0 + 0.2 * n / made)
        for n in range(1, 4):
            estimate = ratio(values[n], values[0], rule.level)
            assert abs(estimate.median / (medians[n] / medians[0]) - 1) < 0.01
