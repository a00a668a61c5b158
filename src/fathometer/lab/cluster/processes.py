"""The processes of a cluster: how they are known, also after a crash, and how they are ended.

Each process of a cluster carries the cluster's folder in its environment, and those that do not (a daemon that has
cleared it) are in the network namespace of one that does. Nothing else is ever ended: process numbers and namespaces
that a state file holds may belong to others by now.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from fathometer.base.errors import FathometerError
from fathometer.base.marked_processes import marked_processes, other_processes
from fathometer.base.process_stat import process_stat
from fathometer.config.types import Strictly
from fathometer.record.cluster import MARKER

END_SECONDS = 10.0  # in which the kernel has ended what was killed
PAUSE_SECONDS = 0.02


@dataclass(frozen=True)
class Sleeper:
    """A process, known again by the time of its start (clock ticks since the start of the system)."""

    pid: Annotated[int, Strictly, Ge(1)]
    start: Annotated[int, Strictly]

    @property
    def alive(self) -> bool:
        """Whether it is still this process, and has not ended."""
        return start_of(self.pid) == self.start


def start_of(pid: int) -> int | None:
    """When a process was started, in clock ticks since the start of the system; None of one that has ended."""
    stat = process_stat(pid)
    return stat.start if stat is not None and stat.state not in ("Z", "X") else None


def sleeper(pid: int) -> Sleeper:
    """The process of a number. Raises FathometerError where it has ended."""
    start = start_of(pid)
    if start is None:
        raise FathometerError(f"process {pid}: ended as soon as it was started")
    return Sleeper(pid, start)


def boot() -> str:
    """What tells this start of the system from others."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def members(folder: Path) -> list[int]:
    """The processes of the cluster whose state is in the folder."""
    marked = marked_processes(MARKER, lambda value: value == str(folder))
    namespaces: dict[int, str] = {}
    for pid in other_processes():
        with suppress(OSError):  # of another user, or ended
            if start_of(pid) is not None:
                namespaces[pid] = os.readlink(f"/proc/{pid}/ns/net")
    ours = {namespaces[pid] for pid in marked & namespaces.keys()} - {os.readlink("/proc/self/ns/net")}
    return sorted(pid for pid, namespace in namespaces.items() if pid in marked or namespace in ours)


def end_members(folder: Path) -> int:
    """Kill the processes of a cluster; how many there were. Raises FathometerError where one does not end."""
    ended: set[int] = set()
    until = time.monotonic() + END_SECONDS
    while left := members(folder):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        ended |= set(left)
        if time.monotonic() > until:
            raise FathometerError(f"{folder}: processes {', '.join(map(str, left))} do not end")
        time.sleep(PAUSE_SECONDS)
    return len(ended)
