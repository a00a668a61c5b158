"""How a study went, in sentences: its runs and its end, drift, values far away, failed and marked cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from statistics import median

from fathometer.base.errors import shortened
from fathometer.base.formatting import counted, duration_text, listed, percent, value_text
from fathometer.lab.statistics.drift import drift
from fathometer.lab.statistics.modes import two_levels
from fathometer.lab.statistics.outliers import outliers
from fathometer.lab.statistics.variance_levels import Place, variance_levels
from fathometer.lab.studies.asked import Answer, answer_of, merits
from fathometer.lab.studies.report.crossing import crossings
from fathometer.lab.studies.results import MEASURED, Results

MOST_NAMED = 4  # cases and reasons that a sentence names
FEWEST = 6  # runs of a case, of which the first can be told from the others
MOST_CLOCK = 1.05  # largest over smallest clock that is not told
LONGEST_REASON = 120  # letters of why runs failed
ENDINGS = {
    "precision": "It ended when every interval was as narrow as asked.",
    "repetitions": "It ended after the most rounds that were asked for.",
    "budget": "It ended because its budget was spent.",
}


def remarks(results: Results, answer: Answer | None = None) -> list[str]:
    """What the study cannot show, as its file says it, and sentences on how it went: runs and its end, drift, outliers,
    failed and marked cases."""
    answer = answer or answer_of(results)
    figures = [
        name for name in (answer.tables[0].columns or merits(results.figures)) if name in results.figures
    ] or merits(results.figures)
    limits = " ".join(str(results.definition.get("limits", "")).split())
    told = [*([limits] if limits else []), _ended(results)]
    if figures:
        told += [*_drift(results, figures[0]), *_outliers(results, figures), *_first_runs(results, figures[0])]
        told += [*_two_levels(results, figures), *_spread(results, figures[0])]
    return told + crossings(results) + _failed(results) + _marked(results) + _clock(results)


def _ended(results: Results) -> str:
    runs = [run for case in results.cases.values() for run in case.runs if run.kind != "warm-up"]
    rounds, cases = results.rounds(), len(results.cases)
    again, repeated = sum(run.kind == "winner" for run in runs), sum(run.again for run in runs)
    spent = sum(run.seconds for case in results.cases.values() for run in case.runs)
    text = f"{counted(rounds, 'round')} of {counted(cases, 'case')}"
    text += f", {counted(repeated, 'run')} again of pairs that were disturbed" if repeated else ""
    text += f" and {counted(again, 'run')} of winners" if again else ""
    text += f", {counted(len(runs), 'run')} in {duration_text(spent)} with those to warm up."
    return f"{text} {ENDINGS.get(results.ended, 'It is not complete yet.' if not results.ended else results.ended)}"


def _drift(results: Results, figure: str) -> list[str]:
    found = drift(case.values(figure) for case in results.cases.values())
    if found is None:
        return ["Drift: too few rounds to look for it."]
    if not found.significant:
        return [f"No drift of {figure} over the rounds was found."]
    by = f"{percent(abs(found.change))} ({_signed(found.low)} to {_signed(found.high)})"
    how = "rose" if found.change > 0 else "fell"
    return [
        f"{figure[:1].upper() + figure[1:]} {how} by {by} from the first round to the last: medians hold that drift, "
        f"ratios within rounds do not."
    ]


def _signed(share: float) -> str:
    return f"{'−' if share < 0 else '+'}{percent(abs(share))}"


def _outliers(results: Results, figures: Sequence[str]) -> list[str]:
    told = []
    for figure in figures:
        values = [list(case.values(figure).values()) for case in results.cases.values()]
        far, all_ = sum(len(outliers(each)) for each in values), sum(map(len, values))
        if far:
            told.append(
                f"{far} of {all_} values of {figure} are far from the others of their case; they are shown and "
                f"counted, and medians do not mind them."
            )
    return told


def _first_runs(results: Results, figure: str) -> list[str]:
    """Cases whose first run that counts is much slower than their others: what is only done once."""
    info = results.figures[figure]
    slow: dict[str, float] = {}
    several = 0
    for case in results.cases.values():
        values = case.values(figure)
        if len(values) < FEWEST or min(values.values()) <= 0 or info.direction == "none":
            continue
        several += 1
        first, *rest = (value if info.direction == "lower" else 1 / value for value in values.values())
        if 0 in outliers([first, *rest]) and first > max(rest):
            slow[str(case.case)] = first / median(rest)
    if not slow:
        return []
    cases = f"{len(slow)} of {counted(several, 'case')} ({listed(list(slow), MOST_NAMED)})"
    return [
        f"The first run of {cases} took up to {max(slow.values()):.3g} times as long as the others: what only a first "
        "run does; a higher [runs] warm_up leaves it out."
    ]


def _two_levels(results: Results, figures: Sequence[str]) -> list[str]:
    told = []
    for figure in figures:
        found = {
            str(case.case): levels
            for case in results.cases.values()
            if (values := list(case.values(figure).values())) and (levels := two_levels(values)) is not None
        }
        if found:
            name, levels = next(iter(found.items()))
            unit = results.figures[figure].unit
            low, high = (value_text(value, unit) for value in (levels.low, levels.high))
            others = f", and of {counted(len(found) - 1, 'case')} more" if len(found) > 1 else ""
            told.append(
                f"{figure[:1].upper() + figure[1:]} of {name} is at two levels, {low} and {high} "
                f"({percent(levels.upper_share)} of the values){others}: a median between them is no typical value."
            )
    return told


def _spread(results: Results, figure: str) -> list[str]:
    """How far runs, sessions and days differ."""
    begins: dict[int, float] = {}  # of sessions
    for case in results.cases.values():
        for run in case.runs:
            begins[run.session] = min(run.begin, begins.get(run.session, run.begin))
    days = {session: datetime.fromtimestamp(begin).strftime("%Y-%m-%d") for session, begin in begins.items()}
    cases: list[dict[Place, list[float]]] = []
    for case in results.cases.values():
        places: dict[Place, list[float]] = {}
        for run in case.runs:
            if run.kind == MEASURED and not run.failed and figure in run.figures:
                places.setdefault((days[run.session], run.session), []).append(run.figures[figure])
        cases.append(places)
    levels = variance_levels(cases)
    if not levels:
        return []
    parts = [f"{level.between}s by {percent(level.deviation)}" for level in levels]
    counts = ", ".join(counted(level.groups, level.between) for level in levels[1:])
    return [
        f"{figure[:1].upper() + figure[1:]} differs between {listed(parts)} (standard deviations, each beyond what the "
        f"level below it brings; {counts})."
    ]


def _clock(results: Results) -> list[str]:
    clocks = [run.clock for case in results.cases.values() for run in case.runs if run.kind != "warm-up" and run.clock]
    if not clocks or max(clocks) <= MOST_CLOCK * min(clocks):
        return []
    low, high = (f"{value / 1e9:.2f}" for value in (min(clocks), max(clocks)))
    return [f"The clock of the fastest cpu was {low} to {high} GHz at the ends of the runs."]


def _failed(results: Results) -> list[str]:
    failed = {name: case.failures for name, case in results.cases.items() if case.failures}
    if not failed:
        return []
    count = sum(map(len, failed.values()))
    reasons = Counter(_reason(run.failed) for runs in failed.values() for run in runs)
    named = listed([str(results.cases[name].case) for name in failed], MOST_NAMED)
    most, often = reasons.most_common(1)[0]
    why = f"{most}" if len(reasons) == 1 else f"most often ({often} times): {most}"
    return [f"{counted(count, 'run')} failed, of {counted(len(failed), 'case')} ({named}): {why}."]


def _reason(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), text)
    return shortened(first, LONGEST_REASON).rstrip(".")


def _marked(results: Results) -> list[str]:
    marks = Counter(mark for case in results.cases.values() for mark in case.marks)
    marked = sum(bool(case.marks) for case in results.cases.values())
    if not marked:
        return []
    what = listed([f"{shortened(mark, 80)} ({number})" for mark, number in marks.most_common()], MOST_NAMED)
    return [f"{counted(marked, 'case')} of {len(results.cases)} {'is' if marked == 1 else 'are'} marked: {what}."]
