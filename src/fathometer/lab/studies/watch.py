"""What happens on this host while a run is measured: work of others, swapping, stolen time, clocks apart."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.ledger import now

OTHERS_SHARE = 0.03  # of this host's cpus that others used, from which a run is marked
STOLEN_SHARE = 0.02  # of the time of a virtual machine's cpus that its host gave to others
CLOCKS_APART = 1.15  # largest over smallest clock of the cpus
SHORTEST_SECONDS = 0.5  # of a run: counters tick a hundred times a second


@dataclass(frozen=True)
class _State:
    seconds: float
    busy: float  # s, all cpus, all processes
    stolen: float
    own: float  # s, of this process and of children that have ended
    swapped: int  # pages, since the start of the system


class Watch:
    """Watches this host from its making until `marks`.

    Args:
        proc, cpus: where Linux shows them.
    """

    def __init__(self, proc: Path = Path("/proc"), cpus: Path = Path("/sys/devices/system/cpu")) -> None:
        self._proc, self._cpus = proc, cpus
        self._begin = self._state()

    def marks(self, asked: int = 0, beside: bool = False) -> list[str]:
        """What was amiss since then, in words.

        asked: cpus that the run wanted. beside: whether others were to run at the same time.
        """
        begin, end = self._begin, self._state()
        seconds, cpus = end.seconds - begin.seconds, os.cpu_count() or 1
        marks = []
        here = len(os.sched_getaffinity(0))
        if asked > here:
            marks.append(f"cores shared: {asked} threads on {here} cpus")
        if seconds >= SHORTEST_SECONDS:
            others = (end.busy - begin.busy) - (end.own - begin.own)
            if not beside and others > OTHERS_SHARE * seconds * cpus:
                marks.append("others used the cpus")
            if end.stolen - begin.stolen > STOLEN_SHARE * seconds * cpus:
                marks.append("the host of the virtual machine took time")
        if end.swapped > begin.swapped:
            marks.append("the machine swapped")
        clocks = self._clocks()
        if clocks and max(clocks) > CLOCKS_APART * min(clocks):
            marks.append("clocks of the cores apart")
        return marks

    def _state(self) -> _State:
        ticks = os.sysconf("SC_CLK_TCK")
        busy = stolen = 0.0
        with suppress(OSError, ValueError, IndexError):
            numbers = [int(text) for text in (self._proc / "stat").read_text().split("\n", 1)[0].split()[1:]]
            user, nice, system, _, _, interrupts, soft, stolen_ticks = numbers[:8]
            busy, stolen = (user + nice + system + interrupts + soft) / ticks, stolen_ticks / ticks
        own = sum(
            usage.ru_utime + usage.ru_stime
            for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )
        swapped = 0
        with suppress(OSError, ValueError):
            for line in (self._proc / "vmstat").read_text().splitlines():
                name, _, number = line.partition(" ")
                if name in ("pswpin", "pswpout"):
                    swapped += int(number)
        return _State(now(), busy, stolen, own, swapped)

    def _clocks(self) -> list[int]:
        clocks = []
        for path in self._cpus.glob("cpu[0-9]*/cpufreq/scaling_cur_freq"):
            with suppress(OSError, ValueError):
                clocks.append(int(path.read_text()))
        return clocks
