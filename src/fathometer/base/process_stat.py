"""What Linux tells of a process in /proc/PID/stat (proc_pid_stat(5))."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class ProcessStat:
    """A process as it is now.

    Attributes:
        state: a letter; Z and X have ended. parent: its number. ticks: of all cpus, of its threads and of children that
            it has waited for. start: clock ticks since the start of the system.
    """

    state: str
    parent: int
    ticks: int
    start: int


def process_stat(pid: int | str, proc: Path = PROC) -> ProcessStat | None:
    """Of the process of a number, or of "self"; None where there is none, or where it cannot be read."""
    with suppress(OSError, ValueError, IndexError):
        # The name, the second field, is in brackets and may hold anything.
        fields = (proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return ProcessStat(fields[0], int(fields[1]), sum(map(int, fields[11:15])), int(fields[19]))
    return None


def cpu_seconds(pids: Iterable[int], proc: Path = PROC) -> float:
    """Seconds of all cpus that some processes have used so far; of those that have ended nothing."""
    found = (process_stat(pid, proc) for pid in pids)
    return sum(stat.ticks for stat in found if stat is not None) / os.sysconf("SC_CLK_TCK")
