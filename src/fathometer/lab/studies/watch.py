"""What happens on this host while a run is measured: work of others, swapping, stolen time, clocks apart."""

from __future__ import annotations

import os
import resource
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.ledger import now

OTHERS_SHARE = 0.03  # of this host's cpus that others used, from which a run is marked
STOLEN_SHARE = 0.02  # of the time of a virtual machine's cpus that its host gave to others
CLOCKS_APART = 1.15  # largest over smallest clock of the cpus
SHORTEST_SECONDS = 1.0  # in which others are looked for: counters tick a hundred times a second, and err by some ticks
LONGEST_SECONDS = 5.0  # before a run, that are looked at because the run is shorter

OTHERS, STOLEN = "others used the cpus", "the host of the virtual machine took time"
SWAPPED, APART = "the machine swapped", "clocks of the cores apart"
THROTTLED = "cpus were slowed down, being hot"
# What passes: a run with such a mark is another one when it is made again. Other marks are of how the case is placed.
PASSING = frozenset((OTHERS, STOLEN, SWAPPED, THROTTLED))


def disturbed(marks: Collection[str]) -> bool:
    """Whether a run with these marks was disturbed by what passes."""
    return any(mark in PASSING or mark.endswith("others used it") for mark in marks)


@dataclass(frozen=True)
class _State:
    seconds: float
    busy: float  # s, all cpus, all processes
    stolen: float
    own: float  # s, of this process, of children that have ended, and of daemons
    swapped: int  # pages, since the start of the system
    throttled: int  # times that a cpu was slowed down for its temperature, since the start of the system


class Watch:
    """Watches this host during runs, one after another: each from `begin`, or the making of this object, to `marks`.

    Of a run that is too short for the counters, the time before it is looked at too, as far as this object was there.

    Args:
        proc, cpus: where Linux shows them.
        daemons: seconds of all cpus of processes that work for the runs and are no children of this one.
    """

    def __init__(
        self,
        proc: Path = Path("/proc"),
        cpus: Path = Path("/sys/devices/system/cpu"),
        daemons: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._proc, self._cpus, self._daemons = proc, cpus, daemons
        self._states: deque[_State] = deque()
        self.begin()

    def begin(self) -> None:
        """A run begins."""
        self._begin = self._state()
        self._states.append(self._begin)

    def marks(self, asked: int = 0, beside: bool = False) -> list[str]:
        """What was amiss since then, in words.

        asked: cpus that the run wanted. beside: whether others were to run at the same time.
        """
        end, cpus = self._state(), os.cpu_count() or 1
        marks = []
        here = len(os.sched_getaffinity(0))
        if asked > here:
            marks.append(f"cores shared: {asked} threads on {here} cpus")
        begin = self._looked_at(end)
        if begin is not None:
            seconds = end.seconds - begin.seconds
            others = (end.busy - begin.busy) - (end.own - begin.own)
            if not beside and others > OTHERS_SHARE * seconds * cpus:
                marks.append(OTHERS)
            if end.stolen - begin.stolen > STOLEN_SHARE * seconds * cpus:
                marks.append(STOLEN)
        if end.swapped > self._begin.swapped:
            marks.append(SWAPPED)
        if end.throttled > self._begin.throttled:
            marks.append(THROTTLED)
        clocks = self._clocks()
        if clocks and max(clocks) > CLOCKS_APART * min(clocks):
            marks.append(APART)
        return marks

    def _looked_at(self, end: _State) -> _State | None:
        """The state from which others are looked for: that of the run's begin, or the last one that is long enough
        ago; None where there is none."""
        while self._states and end.seconds - self._states[0].seconds > LONGEST_SECONDS:
            if self._states[0] is self._begin:
                break
            self._states.popleft()
        return next(
            (state for state in reversed(self._states) if end.seconds - state.seconds >= SHORTEST_SECONDS), None
        )

    def _state(self) -> _State:
        ticks = os.sysconf("SC_CLK_TCK")
        busy = stolen = 0.0
        with suppress(OSError, ValueError, IndexError):
            numbers = [int(text) for text in (self._proc / "stat").read_text().split("\n", 1)[0].split()[1:]]
            user, nice, system, _, _, interrupts, soft, stolen_ticks = numbers[:8]
            busy, stolen = (user + nice + system + interrupts + soft) / ticks, stolen_ticks / ticks
        own = self._daemons() + sum(
            usage.ru_utime + usage.ru_stime
            for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )
        swapped = 0
        with suppress(OSError, ValueError):
            for line in (self._proc / "vmstat").read_text().splitlines():
                name, _, number = line.partition(" ")
                if name in ("pswpin", "pswpout"):
                    swapped += int(number)
        throttled = self._numbers("cpu[0-9]*/thermal_throttle/*_throttle_count")
        return _State(now(), busy, stolen, own, swapped, sum(throttled))

    def clock(self) -> float:
        """Of the fastest cpu now, Hz; 0 where it is not known. Those that rest are slower."""
        return 1e3 * max(self._clocks(), default=0)

    def _clocks(self) -> list[int]:
        return self._numbers("cpu[0-9]*/cpufreq/scaling_cur_freq")

    def _numbers(self, pattern: str) -> list[int]:
        found = []
        for path in self._cpus.glob(pattern):
            with suppress(OSError, ValueError):
                found.append(int(path.read_text()))
        return found
