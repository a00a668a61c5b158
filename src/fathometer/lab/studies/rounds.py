"""The course of a study: warm-up, rounds in which every case is run once, and the winners once more.

    every case a few times, which do not count                                    (warm-up)
    round 1, 2, ...: every case once, in an order drawn anew; rounds come in pairs, the second in the reverse order
        after each pair: is every interval as narrow as asked, or the budget spent?
    of pairs of builds: those that were disturbed again, in further rounds
    of each table with best_over: the winners' cases again, in rounds of their own

Rounds may be spread over sessions, with pauses between; each warms up. What is done is kept after each run; a study
that was interrupted goes on with the run that it was at, in a session of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import Protocol

from fathometer.lab.studies.design import Case
from fathometer.lab.studies.order import in_groups
from fathometer.lab.studies.results import MEASURED, Run, RunKind

FAILURES = 2  # of a case that has never succeeded, after which it is not run again


class Work(Protocol):
    """Interface of what runs a case once."""

    @property
    def together(self) -> bool:
        """Whether the runs of a round are begun all at once."""
        ...

    def begin(self, cases: Sequence[Case], kind: RunKind, number: int) -> None:
        """Begin these runs, to be made in this order; where `together`, before the first of them is asked for."""
        ...

    def run(self, case: Case, kind: RunKind, number: int, tell: Callable[[str], None]) -> Run:
        """Run it, and say what came of it: a run that failed is a result. Raises what ends the whole study.

        tell: called with how far it is, in words, where that is more than that it runs.
        """
        ...

    def tidy(self, case: Case, run: Run) -> None:
        """Remove what is not to be kept of a run, whose result is kept."""
        ...

    def stop(self) -> None:
        """End what runs in other threads: their results are not wanted."""
        ...


class StudyDisplay(Protocol):
    """Interface of what shows how far a study is."""

    def began(self, case: Case, kind: RunKind, number: int, left: float | None) -> None:
        """A run begins; left: seconds of the budget."""
        ...

    def state(self, case: Case, kind: RunKind, number: int, words: str) -> None:
        """How far it is, such as where it waits."""
        ...

    def ended(self, case: Case, run: Run) -> None:
        """It has ended."""
        ...

    def pausing(self, session: int, seconds: float) -> None:
        """A pause begins, after which the session of this number does."""
        ...


@dataclass(frozen=True)
class Limits:
    """How often and how long.

    Attributes:
        least, most: rounds. warm_up: runs of each case before. seed: of the orders.
        budget: s for the whole study, sessions before included; None: no limit. at_once: runs at the same time.
        winners: cases that will be run again at most, as often as there were rounds, up to `least`.
        sessions: over which the first `least` rounds are spread. pause: s between them.
    """

    least: int
    most: int
    warm_up: int
    seed: int
    budget: float | None
    at_once: int = 1
    winners: int = 0
    sessions: int = 1
    pause: float = 0.0

    def ends_session(self, number: int) -> bool:
        """Whether a pause follows this round: sessions have whole pairs of rounds."""
        ends = (max(2 * n, 2 * round(self.least * n / self.sessions / 2)) for n in range(1, self.sessions))
        return number < self.most and number in ends


class Rounds:
    """A study under way.

    Args:
        runs: of each case, by its name, from earlier sessions; this object adds to them.
        keep: called with a case and its runs after each run. spent: seconds of earlier sessions. clock: seconds.
        groups: names of cases that follow each other in every round; each by itself: left out.
        sleep: waits for so many seconds.

    Attributes:
        measured: rounds so far, those of `repeat` left out.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        runs: Mapping[str, Sequence[Run]],
        limits: Limits,
        work: Work,
        keep: Callable[[Case, Sequence[Run]], None],
        progress: StudyDisplay,
        clock: Callable[[], float],
        spent: float = 0.0,
        groups: Sequence[Sequence[str]] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._cases = {case.name: case for case in cases}
        self.runs = {name: list(runs.get(name, ())) for name in self._cases}
        self._limits, self._work, self._keep, self._progress = limits, work, keep, progress
        self._clock, self._begin, self._spent = clock, clock(), spent
        self._groups, self._sleep = groups or [[name] for name in self._cases], sleep
        self._session = 1 + max((run.session for some in self.runs.values() for run in some), default=0)
        self._made = 0  # runs of this session
        self._again_now = False  # whether `repeat` is at work
        self.measured = 0  # rounds, but for those of `repeat`
        self._lock = Lock()
        self._stopping = False

    @property
    def seconds(self) -> float:
        """That the study has taken so far."""
        return self._spent + self._clock() - self._begin

    def measure(self, enough: Callable[[Mapping[str, Sequence[Run]]], bool]) -> str:
        """Warm-up and rounds; why they ended: "precision", "repetitions" or "budget".

        enough: whether the runs so far are as precise as asked; looked at after each pair of rounds.
        """
        limits, names, begun = self._limits, list(self._cases), 0
        for number in range(1, limits.most + 1):
            if number == 1 or limits.ends_session(number - 1):
                begun += 1
                left = any(not self._done(name, MEASURED, number) for name in names)
                if left and not self._begin_session(begun):
                    return "budget"
            self.measured = number
            if not self._round(MEASURED, number, names):
                return "budget"
            fixed = limits.least == limits.most
            over = number >= limits.least and number % 2 == 0 and begun == limits.sessions
            if not fixed and over and enough(self.runs):
                return "precision"
        return "repetitions"

    def _begin_session(self, number: int) -> bool:
        """Pause before it, unless nothing has been run yet, and warm up; False where the budget does not suffice."""
        if number > 1 and self._made:
            self._session += 1
            self._progress.pausing(self._session, self._limits.pause)
            self._sleep(self._limits.pause)
            self._spent -= self._limits.pause
        first = self._limits.warm_up * (number - 1)
        numbers = range(first + 1, first + self._limits.warm_up + 1)
        return all(self._round("warm-up", each, list(self._cases)) for each in numbers)

    def repeat(self, wanted: Callable[[Mapping[str, Sequence[Run]]], Sequence[str]]) -> bool:
        """Further rounds of some cases, as many at most as there were; False where the budget did not suffice.

        wanted: the names of the cases that are to be run again, given all runs so far; none ends it.
        """
        self._again_now = True
        for number in range(self.measured + 1, 2 * self.measured + 1):
            if not (names := wanted(self.runs)):
                break
            if not self._round(MEASURED, number, names):
                return False
        return True

    def measure_again(self, winners: Sequence[str]) -> bool:
        """Runs of kind "winner" of the cases of these names; False where the budget did not suffice."""
        self._again_now = False
        return all(self._round("winner", number, winners) for number in range(1, self._again(self.measured) + 1))

    def _again(self, rounds: int) -> int:
        """How often winners are run again after so many rounds."""
        return min(rounds, self._limits.least)

    def _round(self, kind: RunKind, number: int, names: Sequence[str]) -> bool:
        """Each of these cases once, but those that have been run; False where the budget does not suffice."""
        wanted = set(names)
        groups = [group for all_ in self._groups if (group := [name for name in all_ if name in wanted])]
        ordered = in_groups(groups, number - 1, self._limits.seed)
        left = [name for name in ordered if not self._done(name, kind, number)]
        if self._work.together and left:
            if not self._affordable(left, kind, number):
                return False
            self._work.begin([self._cases[name] for name in left], kind, number)
        if self._limits.at_once == 1:
            return all(self._one(name, kind, number) for name in left)
        with ThreadPoolExecutor(self._limits.at_once) as pool:
            try:
                return all(list(pool.map(lambda name: self._one(name, kind, number), left)))
            except BaseException:
                self._stopping = True
                self._work.stop()
                raise

    def _done(self, name: str, kind: RunKind, number: int) -> bool:
        """Whether a run is there, or is not to be made: of a case that fails whenever it is run."""
        runs = self.runs[name]
        if any((run.kind, run.number) == (kind, number) for run in runs):
            return True
        return len(runs) >= FAILURES and all(run.failed for run in runs)

    def _longest(self, name: str) -> float:
        """Seconds that a run of a case may take: the longest so far."""
        with self._lock:
            return max((run.seconds for run in self.runs[name]), default=0.0)

    def _reserve(self, kind: RunKind, number: int) -> float:
        """Seconds of the winners' runs that are to follow a round."""
        if kind != MEASURED or not self._limits.winners:
            return 0.0
        with self._lock:
            every = [run.seconds for runs in self.runs.values() for run in runs]
        if not every:
            return 0.0
        return self._limits.winners * self._again(number) * sum(every) / len(every)

    @property
    def _left(self) -> float | None:
        """Seconds of the budget."""
        return None if self._limits.budget is None else self._limits.budget - self.seconds

    def _affordable(self, names: Sequence[str], kind: RunKind, number: int) -> bool:
        """Whether the budget suffices for runs of these cases, and for those of the winners that are to follow."""
        left = self._left
        return left is None or left > sum(map(self._longest, names)) + self._reserve(kind, number)

    def _one(self, name: str, kind: RunKind, number: int) -> bool:
        case = self._cases[name]
        if self._stopping or not (self._work.together or self._affordable([name], kind, number)):
            return False
        self._progress.began(case, kind, number, self._left)
        run = self._work.run(case, kind, number, lambda words: self._progress.state(case, kind, number, words))
        with self._lock:
            if self._stopping:
                return False
            self._made += 1
            self.runs[name].append(run := replace(run, session=self._session, again=self._again_now))
            self._keep(case, self.runs[name])
        self._work.tidy(case, run)
        with self._lock:
            self._progress.ended(case, run)
        return True
