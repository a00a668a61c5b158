"""No number in a study's sentences contradicts the tables under them: studies are drawn, and the numbers compared."""

import random
import re
from dataclasses import replace

import pytest
from support import FULL

from fathometer.lab.studies.asked import answer_of
from fathometer.lab.studies.report.answer import answer_sentence
from fathometer.lab.studies.report.cells import is_speed
from fathometer.lab.studies.report.remarks import remarks
from fathometer.lab.studies.report.tables import views
from fathometer.lab.studies.selection import label
from tests.support.study_support import KERNEL, MEMORY, TOTAL, study

DRAWS = 300 if FULL else 40
NUMBER = r"[\d.,\u202f]+"


def drawn(seed):
    """A study of some cases, rounds, noise, failures, marks and sessions, of which the first row is the reference."""
    source = random.Random(seed)
    factors = {"ranks": [1, 2, 4][: source.randint(1, 3)], "threads": [1, 2][: source.randint(1, 2)]}
    figure = source.choice([TOTAL, KERNEL, replace(MEMORY, role="merit")])
    truth = {
        (ranks, threads): source.choice([1.0, source.uniform(0.3, 3), source.uniform(0.3, 3)])
        for ranks in factors["ranks"]
        for threads in factors["threads"]
    }
    rounds, failing = source.choice([1, 2, 5, 6, 8, 12, 12, 20, 20, 45]), source.choice([0.0, 0.0, 0.3, 1.0])
    bad = source.choice(list(truth))
    sessions = source.choice([1, 1, 1, 1, 3])

    def runs(settings, run):
        run = replace(run, session=1 + run.number % sessions)
        here = (settings["ranks"], settings["threads"])
        if here == bad and source.random() < failing:
            return replace(run, figures={}, failed="exit code 3")
        value = truth[here] * source.lognormvariate(0, 0.02)
        seconds = figure.unit == "seconds"
        value = value if seconds else 1e9 / value if figure.direction == "higher" else 1e9 * value
        return replace(run, figures={figure.name: value})

    table = [{"rows": "ranks, threads", "relative_to": {"ranks": 1, "threads": 1}}]
    return study(factors, rounds=rounds, figures=(figure,), runs=runs, seed=seed, table=table), figure


def number(text):
    return float(text.replace("\u202f", "").replace(",", ""))


def rows(results):
    """Cells of the first table by the names of its rows: value and ratio."""
    [main, *_], _ = views(results)
    keys = ("ranks", "threads")
    found = {}
    for row in main.rows:
        names = [cell.text for cell in row if cell.kind == "name"]
        shown = [head.text for head in main.heads if not head.number]
        settings = dict(zip(shown, map(int, names), strict=True))
        key = label(tuple((name, settings[name]) for name in keys if name in settings))
        found[key] = [cell for cell in row if cell.kind != "name"]
    return found


@pytest.mark.parametrize("seed", range(DRAWS))
def test_numbers_are_those_of_the_table(seed):
    results, figure = drawn(seed)
    said, table = answer_sentence(results), rows(results)
    cases = {label(tuple(case.case.settings.items())): case for case in results.cases.values()}
    # Who failed, and how often.
    for name, failed, of in re.findall(r"((?:\d+ ranks? × \d+ threads?)) \((\d+) of (\d+) runs failed\)", said):
        assert (int(failed), int(of)) == (len(cases[name].failures), results.rounds())
    assert all((str(len(case.failures)) in said) or not case.failures for case in cases.values())
    if "No value" in said:
        without = [name for name, cells in table.items() if cells[0].kind == "failed"]
        assert without
        assert all(name in said.partition("No value")[2] for name in without)
    # The best one has the best value of the table, and its ratio to the reference is the table's.
    best = re.match(r"(\d+ ranks? × \d+ threads?)(?: \([^)]*\))? is the (?:fastest|one)", said)
    values = {name: cells[0].estimate.median for name, cells in table.items() if cells[0].estimate is not None}
    if best:
        better = min if figure.direction == "lower" else max
        assert values[best[1]] == better(values.values())
    told = re.search(
        rf": ({NUMBER}) (?:\(({NUMBER}) to ({NUMBER})\) )?times (?:as fast as|that of) 1 rank × 1 thread", said
    )
    if best and told:
        cell = table[best[1]][1]
        assert told[1] == cell.text
        assert (f"{told[2]} to {told[3]}" if told[2] else "") == cell.interval
        assert cell.differs
        assert (cell.estimate.median > 1) == (is_speed(figure) or figure.direction == "higher")
    # One number of rounds that are needed, in sentence and table.
    _, legend = views(results)
    needed = set(re.findall(r"(\d+) are needed", " ".join([said, *legend.texts.values(), *remarks(results)])))
    assert len(needed) <= 1
    # No interval in a cell of fewer than six rounds.
    for cells in table.values():
        if cells[0].estimate is not None and cells[0].estimate.count < 6:
            assert cells[0].interval in ("", "no spread")


@pytest.mark.parametrize("seed", range(0, DRAWS, 4))
def test_remarks_count_what_is_there(seed):
    results, figure = drawn(seed)
    runs = [run for case in results.cases.values() for run in case.runs if run.kind == "round"]
    told = " ".join(remarks(results, answer_of(results)))
    count = re.match(rf"({NUMBER}) rounds? of ({NUMBER}) cases?, ({NUMBER}) runs?", told)
    assert [int(number(text)) for text in count.groups()] == [results.rounds(), len(results.cases), len(runs)]
    failed = re.search(rf"({NUMBER}) runs? failed, of ({NUMBER}) cases?", told)
    assert (int(failed[1]) if failed else 0) == sum(bool(run.failed) for run in runs)
    far = re.search(rf"({NUMBER}) of ({NUMBER}) values of {figure.name} are far", told)
    assert not far or int(far[2]) == sum(not run.failed for run in runs)
