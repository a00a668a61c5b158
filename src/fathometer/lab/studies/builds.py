"""A study of two builds in turns: beside each case of the program under test the same case of its baseline.

Both are run in every round, one right after the other in an order that is drawn, so that what disturbs the machine for
longer than two runs disturbs both. A pair of runs of which one was disturbed is made again, and does not count.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from fathometer.base.errors import InputError
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.results import MEASURED, Run

BUILD, BASELINE = "build", "baseline"  # the setting of a baseline's case, and its design
FEWEST_PAIRS = 6  # of which an interval of 95 % can be made


def with_baseline(case: Case) -> Case:
    """The same case of the baseline."""
    return Case({**case.settings, BUILD: BASELINE})


def baseline_words(words: str | Sequence[str], command: Sequence[str]) -> tuple[str, ...]:
    """The command of the baseline: a list is all of it, a text stands in place of the command's program.

    Raises InputError for one without words, and for a quotation without end.
    """
    try:
        found = shlex.split(words) if isinstance(words, str) else list(words)
    except ValueError as error:
        raise InputError(f"baseline: found {words}: {error}; allowed: words as for a shell") from None
    if not found or not found[0]:
        raise InputError("baseline: found no word; allowed: a program, with words of its own, or a whole command")
    return (*found, *command[1:]) if isinstance(words, str) else tuple(found)


def sound_rounds(runs: Mapping[int, Run], others: Mapping[int, Run]) -> list[int]:
    """The rounds in which both cases have run without failure, undisturbed, and in the same session."""
    both = sorted(runs.keys() & others.keys())
    return [
        n
        for n in both
        if runs[n].session == others[n].session and not any(run.failed or run.disturbed for run in (runs[n], others[n]))
    ]


def by_round(runs: Iterable[Run]) -> dict[int, Run]:
    """Those of a case's runs that count, by round."""
    return {run.number: run for run in runs if run.kind == MEASURED}


def to_repeat(pairs: Sequence[tuple[str, str]], runs: Mapping[str, Sequence[Run]], rounds: int) -> list[str]:
    """Names of the cases whose pairs are fewer than the rounds, for being disturbed or cut by the end of a session."""
    found: list[str] = []
    for pair in pairs:
        one, other = (by_round(runs[name]) for name in pair)
        cut = any(one[n].session != other[n].session for n in one.keys() & other.keys())
        disturbed = any(run.disturbed for run in (*one.values(), *other.values()))
        if (cut or disturbed) and len(sound_rounds(one, other)) + _failed(one, other) < rounds:
            found += pair
    return found


def _failed(one: Mapping[int, Run], other: Mapping[int, Run]) -> int:
    """Rounds that are lost to failures: these are not made again."""
    return sum(bool(one[n].failed or other[n].failed) for n in one.keys() & other.keys())
