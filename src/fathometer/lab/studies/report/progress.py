"""How far a study is, what is left of it, and by when that may be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from fathometer.base.formatting import counted, duration_text
from fathometer.lab.recipes.times import seconds_of
from fathometer.lab.studies.results import MEASURED, MOST_SECONDS, Results, seconds_of_runs


@dataclass(frozen=True)
class StudyState:
    """How far a study is.

    Attributes:
        done: runs of rounds that were made, failed ones included, those that repeat disturbed ones not.
        least, most: that there will be, of all rounds.
        seconds: of a round, as the medians of its cases' runs have it; None before the first run.
        left: s, to the least and to the most rounds or the end of the budget; None before the first run.
    """

    done: int
    least: int
    most: int
    seconds: float | None
    left: tuple[float, float] | None


def progress_of(results: Results) -> StudyState:
    """How far a study is, by its runs so far; winners that are measured again come on top."""
    runs = results.definition.get("runs") or {}
    fewest, many = _rounds(runs)
    cases = len(results.cases)
    made = [
        [run.seconds for run in case.runs if run.kind == MEASURED and not run.again] for case in results.cases.values()
    ]
    done = sum(map(len, made))
    known = [median(seconds) for seconds in made if seconds]
    if not known:
        return StudyState(done, fewest * cases, many * cases, None, None)
    each = sum(known) / len(known)
    least, most = (each * max(0, rounds * cases - done) for rounds in (fewest, many))
    budget = runs.get("budget")
    if isinstance(budget, str):
        spent = seconds_of_runs(run for case in results.cases.values() for run in case.runs)
        rest = max(0.0, seconds_of(budget) - spent)
        least, most = min(least, rest), min(most, rest)
    return StudyState(done, fewest * cases, many * cases, each * cases, (least, most))


def progress_line(results: Results, now: float) -> str:
    """The same in a sentence. now: s since 1970, local time."""
    progress = progress_of(results)
    least, most = _rounds(results.definition.get("runs") or {})
    text = f"{results.rounds()} of {_span(least, most)} rounds, {counted(progress.done, 'run')} of "
    text += _span(progress.least, progress.most)
    if again := sum(run.again for case in results.cases.values() for run in case.runs):
        text += f", and {counted(again, 'run')} of pairs that were disturbed"
    if results.ended:
        return f"complete: {text}"
    if progress.left is None:
        return f"not complete: {text}; no run has ended yet"
    low, high = progress.left
    ends = [datetime.fromtimestamp(now + min(seconds, MOST_SECONDS)).strftime("%H:%M") for seconds in (low, high)]
    left = duration_text(high) if low == high else f"{duration_text(low)} to {duration_text(high)}"
    return f"not complete: {text}; {left} left, done by {_span(*ends)} if it goes on"


def _rounds(runs: Mapping[str, Any]) -> tuple[int, int]:
    """The least and the most rounds."""
    repetitions = runs.get("repetitions")
    if isinstance(repetitions, Mapping):
        return int(repetitions["least"]), int(repetitions["most"])
    return (int(repetitions), int(repetitions)) if isinstance(repetitions, int) else (0, 0)


def _span(low: object, high: object) -> str:
    return f"{low}" if low == high else f"{low} to {high}"
