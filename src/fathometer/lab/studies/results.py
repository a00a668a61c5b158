"""What a study has measured, as it is kept and read: every run of every case, with its figures, none left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from fathometer.config.types import Strictly
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.watch import disturbed

MOST_SECONDS = 1e11  # since 1970, and of a run: 3000 years, which the calendar still knows
Number = Annotated[float, Strictly]
RunKind = Literal["warm-up", "round", "winner"]
MEASURED: RunKind = "round"  # the runs that figures are made of, but for those of winners
_NUMBER = re.compile(r" \d+ ")  # of a job among those of its name: "flow 2 elapsed" is a "flow elapsed"


@dataclass(frozen=True)
class FigureInfo:
    """A figure of a study: what it is called, its unit, which values are better, and whether it is a merit."""

    name: str
    unit: str
    direction: Literal["higher", "lower", "none"]
    role: Literal["merit", "context"] = "merit"


def is_exact(figure: FigureInfo, *values: Sequence[float]) -> bool:
    """Whether these are counts that came out the same every time, of each case twice at least: chance has no part in
    them, and a difference needs no more rounds. Times and rates are never taken for such."""
    timed = "seconds" in figure.unit or "_per_" in figure.unit
    return not timed and all(len(each) > 1 and min(each) == max(each) for each in values)


@dataclass(frozen=True)
class Run:
    """One run of one case.

    Attributes:
        kind: "warm-up" runs do not count; those of a "round" do; those of a "winner" were made after all rounds, of the
            best setting of a table's cell.
        number: of the round, from 1, in each kind.
        begin: s since 1970. seconds: from its start to its end, as the study saw it.
        figures: by name. failed: why it has none; "" where it has.
        marks: what was amiss with the machine meanwhile, such as "cores shared".
        folder: of its output, relative to that of the study; "" where nothing was kept.
        session: in which it was made, from 1: a time in which the study ran without a pause.
        clock: of the fastest cpu at its end, Hz; 0: not known. again: whether it is of a further round, in which pairs
            that were disturbed are made again.
    """

    kind: RunKind
    number: Annotated[int, Strictly, Ge(1), Le(10**9)]
    begin: Annotated[float, Strictly, Ge(0), Le(MOST_SECONDS)]
    seconds: Annotated[float, Strictly, Ge(0), Le(MOST_SECONDS)]
    figures: Mapping[str, Number] = field(default_factory=dict)
    failed: str = ""
    marks: Sequence[str] = ()
    folder: str = ""
    session: Annotated[int, Strictly, Ge(1), Le(10**9)] = 1
    clock: Annotated[float, Strictly, Ge(0)] = 0.0
    again: Annotated[bool, Strictly] = False

    @property
    def disturbed(self) -> bool:
        """Whether something that passes was amiss meanwhile: made again, it may be another one."""
        return disturbed(self.marks)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kind": self.kind,
            "number": self.number,
            "begin": self.begin,
            "seconds": self.seconds,
            "figures": dict(self.figures),
            "failed": self.failed,
            "marks": list(self.marks),
            "folder": self.folder,
            "session": self.session,
            "clock": self.clock,
            "again": self.again,
        }


@dataclass(frozen=True)
class CaseRuns:
    """A case and its runs, in the order in which they were made."""

    case: Case
    runs: Sequence[Run]

    def values(self, figure: str, kind: RunKind = MEASURED) -> dict[int, float]:
        """Values of a figure by round; rounds in which the run failed are missing."""
        return {
            run.number: run.figures[figure]
            for run in self.runs
            if run.kind == kind and not run.failed and figure in run.figures
        }

    @property
    def failures(self) -> list[Run]:
        """Runs of rounds that failed."""
        return [run for run in self.runs if run.failed and run.kind != "warm-up"]

    @property
    def marks(self) -> list[str]:
        """Of all its runs that count, each once."""
        return list(dict.fromkeys(mark for run in self.runs if run.kind != "warm-up" for mark in run.marks))


@dataclass(frozen=True)
class Results:
    """All that a study has measured so far.

    Attributes:
        title, question: of the study file. definition: the study file's tables, as they were read, with defaults.
        designs: the cases of each design, by its name; "all" where the file has none.
        factors: names and values. figures: by name, in the order in which they are shown.
        cases: by name (Case.name). machine: as in records. command: the words with which it was started.
        ended: why it ended: "precision", "repetitions", "budget"; "" while it is not complete.
        versions: of programs, by name, where they are known. text: of the study file.
        baselines: of jobs at the same time, by case and job: the name of the case in which the job is alone.
    """

    title: str
    question: str
    definition: Mapping[str, Any]
    designs: Mapping[str, Sequence[str]]
    factors: Mapping[str, Sequence[Any]]
    figures: Mapping[str, FigureInfo]
    cases: Mapping[str, CaseRuns]
    machine: Mapping[str, Any]
    command: Sequence[str]
    ended: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    baselines: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def sessions(self) -> dict[int, int]:
        """In which session each round was made; of one that an interruption has cut, in the later one."""
        found: dict[int, int] = {}
        for case in self.cases.values():
            for run in case.runs:
                if run.kind == MEASURED:
                    found[run.number] = max(run.session, found.get(run.number, 1))
        return found

    def rounds(self) -> int:
        """Rounds that were begun, but for those in which only disturbed pairs were made again."""
        runs = [run for case in self.cases.values() for run in case.runs if run.kind == MEASURED and not run.again]
        return max((run.number for run in runs), default=0)

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each case, run and figure: what Parquet and CSV hold; of a run that failed one without a value."""
        for name, case in self.cases.items():
            for run in case.runs:
                common = {
                    "case": name,
                    **{f"factor_{factor}": value for factor, value in case.case.settings.items()},
                    "kind": run.kind,
                    "round": run.number,
                    "session": run.session,
                    "begin": run.begin,
                    "seconds": run.seconds,
                    "failed": run.failed,
                    "marks": "; ".join(run.marks),
                }
                for figure, value in run.figures.items() if not run.failed else ():
                    info = self.figures.get(figure) or self.figures.get(_NUMBER.sub(" ", figure))
                    yield common | {
                        "figure": figure,
                        "value": value,
                        "unit": info.unit if info else "",
                        "direction": info.direction if info else "none",
                    }
                if run.failed:
                    yield common | {"figure": "", "value": None, "unit": "", "direction": "none"}


def seconds_of_runs(runs: Iterable[Run]) -> float:
    """Seconds in which any of the runs was under way: of those at the same time once."""
    total, until = 0.0, 0.0
    for run in sorted(runs, key=lambda run: run.begin):
        end = run.begin + run.seconds
        total += max(0.0, end - max(run.begin, until))
        until = max(until, end)
    return total
