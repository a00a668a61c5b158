"""Two studies compared: intervals of independent ratios, what got worse, the gate and its exit code."""

import math
from dataclasses import replace
from itertools import combinations
from statistics import median

import numpy as np
import pytest
from cli_support import run

from fathometer.base.errors import InputError
from fathometer.lab.studies.comparison import GateError, _ends, compare, ratio_of_medians, require_gate
from fathometer.lab.studies.report.compared import sentences, view
from tests.support.study_support import KERNEL, MEMORY, TOTAL, keep, speed, study

RANKS = {"ranks": [1, 2], "threads": [1, 2]}
GATE = {"gate": {"figures": ["total"], "tolerance": 0.02}}


def slower(by):
    return lambda settings: speed(settings) * (by if settings["ranks"] == 2 else 1.0)


@pytest.mark.parametrize(("m", "n", "level"), [(3, 4, 0.8), (5, 5, 0.95), (4, 6, 0.9), (6, 6, 0.99)])
def test_ends_are_those_of_all_orders(m, n, level):
    """The distribution of the rank-sum statistic, counted over all orders of m and n values."""
    statistic = [
        sum(sum(place > other for other in set(range(m + n)) - set(chosen)) for place in chosen)
        for chosen in combinations(range(m + n), m)
    ]
    coverage = {k: 1 - 2 * sum(u <= k for u in statistic) / math.comb(m + n, m) for k in range(m * n // 2)}
    wanted = max(k for k in coverage if coverage[k] >= level)
    assert _ends(m, n, level) == (wanted, pytest.approx(coverage[wanted]))


def test_large_samples_are_as_exact_ones():
    assert abs(_ends(65, 65, 0.95)[0] - _ends(64, 64, 0.95)[0]) < 65


@pytest.mark.parametrize("law", ["normal", "exponential", "heavy"])
def test_intervals_hold_the_ratio(law):
    source = np.random.default_rng(3)
    draw = {
        "normal": lambda: source.normal(0, 0.1, 10),
        "exponential": lambda: source.exponential(0.1, 10),
        "heavy": lambda: 0.1 * source.standard_t(2, 10),
    }[law]
    held = 0
    for _ in range(500):
        found = ratio_of_medians(list(np.exp(draw())), list(1.3 * np.exp(draw())))
        held += found.holds(1.3)
    assert held / 500 >= 0.93


def test_the_ratio_of_the_reverse_is_the_inverse():
    one, other = [1.0, 1.1, 1.2, 1.05, 1.3, 1.01], [2.0, 2.2, 2.5, 2.1, 2.4, 2.3]
    there, back = ratio_of_medians(one, other), ratio_of_medians(other, one)
    assert there.median == pytest.approx(1 / back.median)
    assert (there.low, there.high) == (pytest.approx(1 / back.high), pytest.approx(1 / back.low))
    assert ratio_of_medians(one, []) is None
    assert ratio_of_medians(one, [0.0]) is None


def test_what_got_slower_is_found_and_nothing_else():
    found = compare(study(RANKS, **GATE), study(RANKS, slower(1.1), seed=9))
    worse = {tuple(cell.case.case.settings.values()) for cell in found.cells if cell.worse}
    assert worse == {(2, 1), (2, 2)}
    for cell in found.cells:
        truth = 1.1 if cell.case.case.settings["ranks"] == 2 else 1.0
        assert cell.corrected.low <= truth <= cell.corrected.high
        assert cell.ratio.median == pytest.approx(median(cell.second) / median(cell.first), rel=0.03)
    assert len(found.regressions) == 2
    said = sentences(found)
    assert said[0].startswith("Worse beyond doubt: total of 2 ranks × 1 thread 1.")
    assert said[-1] == "Gate: 2 of 4 figures got worse by more than is allowed."
    with pytest.raises(GateError, match=r"gate: total of ranks = 2, threads = 1 got worse: 1\."):
        require_gate(found)


def test_false_alarms_are_rare():
    """Nothing changed: of 100 pairs of studies few claim a difference."""
    alarms = sum(
        any(cell.differs for cell in compare(study(RANKS, seed=n), study(RANKS, seed=1000 + n)).cells)
        for n in range(100)
    )
    assert alarms <= 5 + 2.5 * (0.05 * 0.95 * 100) ** 0.5


def test_rates_get_worse_by_falling():
    first = study(RANKS, figures=(KERNEL,), gate={"figures": ["kernel"]})
    found = compare(first, study(RANKS, slower(1.1), figures=(KERNEL,), seed=4))
    assert {cell.case.case.settings["ranks"] for cell in found.regressions} == {2}
    better = compare(first, study(RANKS, slower(0.9), figures=(KERNEL,), seed=4))
    assert better.regressions == []
    assert any(text.startswith("Better beyond doubt") for text in sentences(better))


def test_less_than_the_tolerance_is_allowed():
    allowed = {"gate": {"figures": ["total"], "tolerance": 0.2}}
    found = compare(study(RANKS, noise=0.001, **allowed), study(RANKS, slower(1.1), noise=0.001, seed=9))
    assert found.regressions == []
    shown, legend = view(found, ("a", "b"))
    assert "tolerance" in legend.texts[shown.rows[2][-1].signs[0]]
    require_gate(found)


def test_failed_and_missing_cases_are_told():
    first = study(
        RANKS, runs=lambda settings, run: replace(run, failed="x") if settings == {"ranks": 1, "threads": 1} else run
    )
    second = study({"ranks": [1, 2], "threads": [2, 4]})
    found = compare(first, second)
    assert len(found.cells) == 2
    assert sentences(found)[-2:] == [
        "Only the first study has 1 rank × 1 thread and 2 ranks × 1 thread.",
        "Only the second study has 1 rank × 4 threads and 2 ranks × 4 threads.",
    ]
    shown, _ = view(compare(first, study(RANKS)), ("a", "b"))
    assert (shown.rows[0][-1].text, shown.rows[0][-1].note) == ("–", "failed in the first study")


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (
            study(RANKS | {"history": ["a"]}, rounds=1),
            "compare: found the factors ranks, threads and ranks, threads, history",
        ),
        (study({"ranks": [3], "threads": [1]}, rounds=1), "compare: found no case in common"),
        (
            study(RANKS, rounds=1, figures=(replace(TOTAL, unit="bytes"),)),
            "gate: figures: found total, which is not the same",
        ),
        (study(RANKS, rounds=1, figures=(MEMORY,)), "gate: figures: found total"),
    ],
)
def test_studies_that_cannot_be_compared_are_one_line(second, told):
    with pytest.raises(InputError) as error:
        compare(study(RANKS, rounds=1, **GATE), second)
    assert told in str(error.value)


@pytest.mark.parametrize(("by", "code"), [(1.1, 3), (1.0, 0), (0.9, 0)])
def test_exit_code(capsys, tmp_path, by, code):
    before = keep(study(RANKS, **GATE), tmp_path / "before.study")
    after = keep(study(RANKS, slower(by), seed=9), tmp_path / "after.study")
    done = run(capsys, "study", "compare", before, after, "--markdown", tmp_path / "compared.md")
    assert done.code == code
    assert "after.study compared with before.study" in done.out
    assert ("fathometer: error: gate: total" in done.err) == (code == 3)
    assert (tmp_path / "compared.md").read_text().count("| total |") == 4
    assert run(capsys, "study", "compare", before, tmp_path).code == 2


def test_the_gate_is_shut_where_a_build_fails_altogether():
    broken = study(RANKS, runs=lambda settings, run: replace(run, figures={}, failed="exit code 1"))
    found = compare(study(RANKS, **GATE), broken)
    assert len(found.lost) == 4
    assert sentences(found)[-1].startswith("Gate: no value any more of total of 1 rank")
    with pytest.raises(GateError, match="failed in the second study, and 3 more"):
        require_gate(found)
    require_gate(compare(broken, study(RANKS, **GATE)))
