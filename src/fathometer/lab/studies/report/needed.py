"""How many rounds a study needs before it can tell a difference: one number for its answer and all of its tables."""

from __future__ import annotations

from fathometer.lab.statistics.differences import rounds_needed
from fathometer.lab.studies.asked import Answer, cases_of, merits
from fathometer.lab.studies.levels import level_of
from fathometer.lab.studies.results import Results
from fathometer.lab.studies.selection import places
from fathometer.lab.studies.study_file import AnswerTable


def rounds_needed_in(results: Results, answer: Answer) -> int:
    """Rounds from which on every comparison that is made could differ, were there that many only: those of the answer
    are all pairs of choices, those of a table all ratios in it."""
    most = max((_comparisons(results, answer, table) for table in answer.tables), default=1)
    return rounds_needed(max(1, most), level_of(results))


def _comparisons(results: Results, answer: Answer, table: AnswerTable) -> int:
    found, _ = places(results, answer, table)
    cells = [len(place.rows) * len(place.columns) for place in found]
    counts = [n * (n - 1) // 2 for n in cells]
    if table.relative_to:
        counts.append(sum(cells) * len(table.columns or merits(results.figures)))
    if table.best_over:
        cases = [results.cases[name].case.settings for name in cases_of(results, table.design)]
        values = [len({repr(settings[name]) for settings in cases}) for name in table.best_over]
        counts.append(sum(n * (n - 1) // 2 for n in values))
    return max(counts, default=1)
