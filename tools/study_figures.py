"""Prints the figures of docs/guide/study-statistics.md, by the very code of the tests.

.venv/bin/python tools/study_figures.py     in the checkout's folder; a minute
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path += [
    str(Path(__file__).resolve().parents[1] / folder)
    for folder in ("tests/support", "tests/lab/statistics", "tests/lab/studies")
]

import test_dependence
import test_order
import test_ratios
from laws import LAWS, covered, covered_when_stopped, measurements, two_modes

from fathometer.lab.statistics.differences import rounds_needed
from fathometer.lab.statistics.drift import drift
from fathometer.lab.statistics.interval import interval, ranks
from fathometer.lab.statistics.outliers import outliers
from fathometer.lab.statistics.signed_ranks import shift_of_ratios
from fathometer.lab.statistics.stopping import StoppingRule
from fathometer.lab.studies.comparison import SHOWN

SPREADS = (0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.06, 0.08)


def coverage() -> None:
    print("coverage of the 95 % interval, 4000 studies: 6, 8, 10, 20, 30 rounds")
    for law in LAWS:
        print(f"  {law:<18}", *(f"{covered(law, count, 4000):.3f}" for count in (6, 8, 10, 20, 30)))


def stopping() -> None:
    print("the same with a stopping rule, 2000 studies, the least over spreads: at 0.95, at the rule's level; rounds")

    class Naive(StoppingRule):
        level = 0.95  # type: ignore[assignment]

    for most in (30, 60):
        for law in LAWS:
            naive = min(covered_when_stopped(law, s, Naive(6, most, 0.05), studies=2000)[0] for s in SPREADS)
            rule = [covered_when_stopped(law, s, StoppingRule(6, most, 0.05), studies=2000) for s in SPREADS]
            quiet = rule[2][1]
            print(f"  6 to {most}: {law:<18} {naive:.3f} {min(rule)[0]:.3f}   at a spread of 2 %: {quiet:.1f} rounds")
    LAWS["two equal modes, 8 apart"] = two_modes(0.5, 8)
    for most in (30, 100):
        rule = StoppingRule(6, most, 0.05)
        least = min(covered_when_stopped("two equal modes, 8 apart", s, rule, studies=2000)[0] for s in SPREADS)
        print(f"  6 to {most}: two equal modes, 8 times their own width apart: {least:.3f}")
    del LAWS["two equal modes, 8 apart"]


def differences() -> None:
    print("studies with a false difference, of 2000: one comparison, seven")
    for name, rule in (("20 rounds", StoppingRule(20, 20)), ("6 to 30", StoppingRule(6, 30))):
        for law in LAWS:
            shares = (test_ratios.false_differences(rule, law, 0.03, others, 2000, 1) for others in (1, 7))
            print(f"  {name:<10} {law:<18}", *(f"{share:.3f}" for share in shares))
    print("rounds needed for 1, 5, 10, 20, 50, 100 comparisons; with a stopping rule")
    for level in (0.95, StoppingRule(6, 30).level):
        print(" ", *(rounds_needed(count, level) for count in (1, 5, 10, 20, 50, 100)))


def orders() -> None:
    print("error of a ratio by a drift of 20 %: mean over 100 orders, largest of a study")
    for kind, law in test_order.DRIFTS.items():
        for rounds in (6, 10, 20, 30):
            found = np.array([test_order.errors(law, rounds, seed) for seed in range(100)])
            print(f"  {kind:<7} {rounds:>3} rounds  {abs(found.mean(0)).max():.2%}  {abs(found).max():.2%}")


def trends() -> None:
    print("studies of four cases with 1 % of noise in which a linear drift is told, of 500: 0, 2 %, 5 %, 20 % of drift")
    for rounds in (6, 10, 20):
        shares = []
        for size in (0.0, 0.02, 0.05, 0.2):
            told = 0
            for seed in range(500):
                table = measurements("exponential", 0.01, (4, rounds), seed) * np.linspace(1, 1 + size, rounds)
                found = drift(dict(enumerate(row)) for row in table.tolist())
                told += found is not None and found.significant
            shares.append(told / 500)
        print(f"  {rounds:>3} rounds", *(f"{share:.3f}" for share in shares))


def clean_samples() -> None:
    print("samples with any outlier, of 2000: 6, 10, 30 values")
    for law in LAWS:
        shares = []
        for count in (6, 10, 30):
            table = measurements(law, 0.02, (2000, count), 1).tolist()
            shares.append(float(np.mean([bool(outliers(values)) for values in table])))
        print(f"  {law:<18}", *(f"{share:.3f}" for share in shares))


def dependent() -> None:
    print("coverage of series of 4000: serial correlation 0, 0.3, 0.6, 0.8, 0.9; as if independent at 0.6")
    for name, law in (("normal", lambda x: x), ("log-normal", np.exp)):
        for count in (40, 80):
            held = []
            for rho in (0.0, 0.3, 0.6, 0.8, 0.9):
                series = test_dependence.correlated(rho, 4000, count, 1, law).tolist()
                held.append(float(np.mean([interval(values).holds(float(law(0.0))) for values in series])))
            series = np.sort(test_dependence.correlated(0.6, 4000, count, 1, law), axis=1).tolist()
            ends = [ranks(count).ends(values) for values in series]
            held.append(float(np.mean([low <= law(0.0) <= high for low, high in ends])))
            print(f"  {name:<11} {count} rounds", *(f"{share:.3f}" for share in held))


def in_sessions() -> None:
    print("coverage of 4000 studies in sessions: share of the variance between them 0, 0.2, 0.5, 0.9; by rounds at 0.5")
    for sessions, each in ((3, 10), (5, 6), (10, 4)):
        held = []
        for share in (0.0, 0.2, 0.5, 0.9):
            values, of = test_dependence.in_sessions(share, 4000, sessions, each, 6)
            held.append(float(np.mean([interval(one, sessions=of).holds(0.0) for one in values.tolist()])))
        values, _ = test_dependence.in_sessions(0.5, 4000, sessions, each, 6)
        held.append(float(np.mean([interval(one).holds(0.0) for one in values.tolist()])))
        print(f"  {sessions:>2} of {each:>2} rounds", *(f"{share:.3f}" for share in held))


def gates() -> None:
    print("gates of 2000 with a tolerance of 3 %: slower by, noise of a run: worse, undecided, not worse")
    for rounds in (10, 20):
        for slower in (1.0, 1.03, 1.05):
            for noise in (0.01, 0.02, 0.03):
                pairs = measurements("log-normal", noise, (2000, 2, rounds), 1)
                found = [shift_of_ratios((slower * b / a).tolist(), SHOWN) for a, b in pairs]
                worse = np.mean([one.low > 1.03 for one in found])
                not_worse = np.mean([one.high <= 1.03 for one in found])
                rest = 1 - worse - not_worse
                print(f"  {rounds} rounds, {slower:.2f}, {noise:.0%}: {worse:.3f} {rest:.3f} {not_worse:.3f}")


if __name__ == "__main__":
    for part in (coverage, dependent, in_sessions, stopping, differences, orders, gates, trends, clean_samples):
        part()
