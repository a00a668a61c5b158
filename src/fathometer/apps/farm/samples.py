"""Some tasks done beforehand, by a worker as the farm's are: for the number of queries of a task, and for plans."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path
from typing import Any

from fathometer.apps.farm.children import Child
from fathometer.apps.farm.farm_file import FarmFile, FastaTasks
from fathometer.apps.farm.sources import Group, fasta_begins
from fathometer.apps.farm.worker import RESULT, Task
from fathometer.base.errors import FathometerError
from fathometer.base.owned_folder import owned_folder

SIZES = (1, 4, 16, 64, 256)  # sequences of a task that are tried
ENOUGH = 1.1  # a task may cost so much more than at the best size
LONGEST = 10.0  # s of a sample, after which no larger one is tried
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


class Sampler:
    """A worker, and the other end of its results' socket. setup: as of Worker, without `writer`."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self._socket, theirs = socket.socketpair()
        own = {"writer": theirs.fileno(), "node": 0, "worker": 0}
        self._child = Child("worker", "sample", {**setup, **own}, [theirs.fileno()], mark=f"sample-{os.getpid()}")
        theirs.close()
        self._file = self._socket.makefile("rb")

    def do(self, task: Task) -> Sample:
        """Do a task. Raises FathometerError where it fails."""
        number = task[0]
        try:
            self._child.control.send([task])
            result: bytes | None = None
            ready: list[Any] = []
            while self._child.control not in ready:  # a task that fails sends no result
                ready = connection.wait([self._socket, self._child.control])
                if self._socket in ready and result is None:
                    _, size = RESULT.unpack(self._file.read(RESULT.size))
                    result = self._file.read(size)
            done, failed, *_ = self._child.control.recv()
        except (EOFError, OSError):
            raise FathometerError(f"a sample of task {number}: its worker has ended ({self._child.ended()})") from None
        if failed:
            raise FathometerError(f"task {number}, done as a sample: {failed[0][1]}")
        return Sample(number, done[0][1], done[0][2], result or b"")

    def close(self) -> None:
        """End the worker."""
        self._child.kill()
        self._socket.close()


@contextmanager
def sampler(input: FarmFile, groups: Sequence[Group]) -> Iterator[Sampler]:
    """Context of a sampler of these tasks."""
    place = input.place(input.farm.scratch) if input.farm.scratch else Path(tempfile.gettempdir())
    with owned_folder(place, "fathometer-farm-") as scratch:
        own = Sampler(described(input, groups) | {"scratch": str(scratch)})
        try:
            yield own
        finally:
            own.close()


def measured_queries(input: FarmFile, table: FastaTasks, workers: int) -> tuple[int, list[tuple[int, float]]]:
    """How many sequences a task is to have, and what was measured: sequences of a sample, and seconds for each.

    The fewest that cost at most a tenth more than at the best of the sizes: the start of the program and of its
    database is spread over them. workers: of all nodes; there are some tasks for each.
    """
    path = input.place(table.file)
    begins = fasta_begins(path)
    ends = [*begins[1:].tolist(), path.stat().st_size]
    most = max(1, len(begins) // (TASKS_A_WORKER * max(workers, 1)))
    found: list[tuple[int, float]] = []
    if most == 1:
        return 1, found
    group = Group(table, 1, 1)
    with sampler(input, [group]) as own:
        first = own.do((1, int(begins[0]), ends[0]))  # so that all find the files in memory
        for size in SIZES:
            if size > most or (found and found[-1][0] * found[-1][1] > LONGEST):
                break
            if size == 1 and first.seconds > LONGEST:
                found.append((1, first.seconds))
                break
            seconds = [_sample(own, begins.tolist(), ends, size, part).seconds for part in (0, 1, 2)]
            found.append((size, sorted(seconds)[1] / size))
    best = min(each for _, each in found)
    return next(size for size, each in found if each <= ENOUGH * best), found


def _sample(own: Sampler, begins: list[int], ends: list[int], size: int, part: int) -> Sample:
    """One of three samples of a size, from the beginning, the middle and the end of the file."""
    place = (len(begins) - size) * part // 2
    return own.do((1, begins[place], ends[place + size - 1]))
