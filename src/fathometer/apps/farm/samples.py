"""Some tasks done beforehand, by a worker as the farm's are: for the number of queries of a task, and for plans."""

from __future__ import annotations

import math
import os
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

from fathometer.apps.farm.children import Child, kill_marked
from fathometer.apps.farm.farm_file import FarmFile, FastaTasks
from fathometer.apps.farm.sources import Group, Places
from fathometer.apps.farm.worker import RESULT, Task
from fathometer.base.errors import FathometerError
from fathometer.base.owned_folder import owned_folder

SCRATCH = "fathometer-farm-"  # how the names of folders of temporary files begin
LARGER = 8  # sequences of the larger sample
PLACES = 3  # of the file from which samples are taken
START = 0.1  # of a task's seconds may be those of its start, over the rest
LONGEST = 10.0  # s of a sample of one sequence, above which tasks have one
TASKS_A_WORKER = 8  # at least, for the work to be spread


@dataclass(frozen=True)
class Sample:
    """A task that was done. seconds, cpu_seconds: of it. result: what it has made."""

    number: int
    seconds: float
    cpu_seconds: float
    result: bytes


def described(input: FarmFile, groups: Sequence[Group]) -> dict[str, Any]:
    """What a worker needs to know of the tasks. They run in the folder of the input file."""
    found = []
    for group in groups:
        table = group.table
        keys = table.model_dump(mode="json")
        keys |= {"first": group.first, "command": list(table.words)}
        if "file" in keys:
            keys["file"] = str(input.place(keys["file"]).absolute())
        found.append(keys)
    return {"groups": found, "folder": str(input.directory.absolute())}


class TaskFailedError(FathometerError):
    """A task that was done as a sample has failed."""


class Sampler:
    """A worker, and the other end of its results' socket. setup: as of Worker, without `writer`."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self._socket, theirs = socket.socketpair()
        self._mark = f"sample-{os.getpid()}"
        own = {"writer": theirs.fileno(), "node": 0, "worker": 0}
        self._child = Child("worker", "sample", {**setup, **own}, [theirs.fileno()], mark=self._mark)
        theirs.close()
        self._file = self._socket.makefile("rb")
        self._ready = False

    def do(self, task: Task) -> Sample:
        """Do a task. Raises FathometerError where it fails."""
        number = task[0]
        try:
            if not self._ready:
                self._ready = bool(self._child.control.recv())
            self._child.control.send([task])
            result: bytes | None = None
            ready: list[Any] = []
            while self._child.control not in ready:  # a task that fails sends no result
                ready = connection.wait([self._socket, self._child.control])
                if self._socket in ready and result is None:
                    _, size = RESULT.unpack(self._file.read(RESULT.size))
                    result = self._file.read(size)
            done, failed, *_ = self._child.control.recv()
        except (EOFError, OSError, struct.error):
            raise FathometerError(f"a sample of task {number}: its worker has ended ({self._child.ended()})") from None
        if failed:
            raise TaskFailedError(f"task {number}, done as a sample: {failed[0][1]}")
        return Sample(number, done[0][1], done[0][2], result or b"")

    def close(self) -> None:
        """End the worker, with its task."""
        self._child.kill()
        kill_marked(self._mark)
        self._socket.close()


@contextmanager
def sampler(input: FarmFile, groups: Sequence[Group]) -> Iterator[Sampler]:
    """Context of a sampler of these tasks."""
    with owned_folder(input.scratch, SCRATCH) as scratch:
        own = Sampler(described(input, groups) | {"scratch": str(scratch)})
        try:
            yield own
        finally:
            own.close()


def measured_queries(
    input: FarmFile, table: FastaTasks, begins: Places, ends: Places, workers: int
) -> tuple[int, list[tuple[int, float]]]:
    """How many sequences a task is to have, and what was measured: sequences of a sample, and seconds for each.

    The start of a program and of its database is spread over them. From samples of two sizes follow the seconds of a
    start and of a sequence, and the fewest sequences with which the start is at most a tenth of the rest. begins, ends:
    of all sequences in the file. workers: of all nodes; there are some tasks for each.
    """
    most = max(1, len(begins) // (TASKS_A_WORKER * max(workers, 1)))
    if most == 1:
        return 1, []
    with sampler(input, [Group(table, 1, 1)]) as own:
        found = []
        for size in (1, min(most, LARGER)):
            seconds = []
            for part in (0, *range(PLACES)):  # the first one twice, so that all find the files in memory
                with suppress(TaskFailedError):
                    seconds.append(_sample(own, begins, ends, size, part).seconds)
                if len(seconds) == 1 and seconds[0] > LONGEST:
                    return 1, [(1, seconds[0] / size)]
            if not seconds:  # as the tasks will say
                return 1, []
            seconds = sorted(seconds[1:] or seconds)
            found.append((size, seconds[len(seconds) // 2]))
    return size_of_tasks(found, most), [(size, seconds / size) for size, seconds in found]


def size_of_tasks(measured: Sequence[tuple[int, float]], most: int) -> int:
    """The fewest sequences of a task with which its start is at most START of the rest. measured: sequences and seconds
    of a small and of a larger sample. most: that there may be.

    >>> size_of_tasks([(1, 0.14), (8, 0.42)], 1000)  # 0.1 s to start, 0.04 s each
    25
    """
    (small, first), (large, second) = measured
    each = max((second - first) / (large - small), 1e-9)
    start = max(0.0, first - small * each)
    return max(1, min(most, math.ceil(start / (START * each) * (1 - 1e-9))))


def _sample(own: Sampler, begins: Places, ends: Places, size: int, part: int) -> Sample:
    """One of some samples of a size, from the beginning to the end of the file."""
    place = (len(begins) - size) * part // (PLACES - 1)
    return own.do((1, int(begins[place]), int(ends[place + size - 1])))
