"""Calls timed for a machine file: repeated until the least time is one that comes again, and watched for what disturbs
them, of which each group of figures gets a note."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fathometer.base.ledger import timed
from fathometer.lab.studies.watch import Watch, disturbed
from fathometer.plan.machine_file import Measurement
from fathometer.plan.worth import worth_little

SHORTEST_SECONDS = 0.3  # of a call, all its repetitions together
LONGEST_SECONDS = 2.0  # of the repetitions that look for a second time as short as the least
AGREEING = 1.05  # two times, the larger over the least: the least is no accident


class Measuring:
    """Times calls, and keeps what is known of each group of figures.

    Attributes:
        measurements: of the groups so far.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.measurements: list[Measurement] = []
        self._begin()

    def seconds_of(self, task: Callable[[], object], least: int = 3) -> float:
        """Least seconds of a call, of at least `least` calls that take SHORTEST_SECONDS together; one before them is
        not counted. Others who use the machine make a call longer, never shorter."""
        task()
        times: list[float] = []
        while len(times) < least or sum(times) < SHORTEST_SECONDS or not _settled(times):
            times.append(timed(task))
        return self.least_of(times)

    def least_of(self, times: Sequence[float]) -> float:
        """The least of some times of a call, all of which are noted."""
        self._note(times)
        return min(times)

    def middle_of_the_least(self, times: Sequence[float]) -> float:
        """The median of the lower half of some times, all of which are noted: of files, whose least time may be one in
        which the system put off its work."""
        self._note(times)
        half = sorted(times)[: (len(times) + 1) // 2]
        return (half[(len(half) - 1) // 2] + half[len(half) // 2]) / 2

    def belongs_to(self, figures: Sequence[str]) -> None:
        """What was measured since the last call of this method, or the begin, is of these figures."""
        if not figures or not self._repetitions:
            return
        marks = tuple(mark for mark in self._watch.marks() if disturbed([mark]))
        self.measurements.append(
            Measurement(
                figures=tuple(figures),
                repetitions=min(self._repetitions),
                spread=max(self._spreads),
                disturbed=marks,
            )
        )
        self._begin()

    def _begin(self) -> None:
        self._repetitions: list[int] = []
        self._spreads: list[float] = []
        self._watch.begin()

    def _note(self, times: Sequence[float]) -> None:
        self._repetitions.append(len(times))
        self._spreads.append(max(times) / max(min(times), 1e-9) - 1)


def _settled(times: Sequence[float]) -> bool:
    """Whether the least time has come twice, about, or was looked for long enough."""
    if len(times) < 2:
        return False
    first, second = sorted(times)[:2]
    return second <= AGREEING * first or sum(times) > LONGEST_SECONDS


def summary(measurements: Sequence[Measurement]) -> list[str]:
    """Lines for people: what was disturbed, and what the file is then worth; nothing where nothing was seen."""
    wrong = [one for one in measurements if one.disturbed]
    if not wrong:
        return []
    by = ", ".join(dict.fromkeys(mark for one in wrong for mark in one.disturbed))
    share = f"{len(wrong)} of {len(measurements)} measurements were disturbed ({by})"
    if worth_little(len(wrong), len(measurements)):
        return [f"{share}: the file is worth little; calibrate again on a quiet machine"]
    return [f"{share}, the file says which"]
