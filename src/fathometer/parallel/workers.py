"""Threads of Python that share out calls of kernels and of SciPy's transforms, which release the interpreter."""

from __future__ import annotations

import itertools
import os
import queue
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fathometer import _native

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers:
    """Threads of a rank, each on cpus of its own.

    Args:
        count: 1: the calling thread does all.
    """

    def __init__(self, count: int) -> None:
        self._pool: ThreadPoolExecutor | None = None
        if count > 1:
            cpus: queue.SimpleQueue[set[int]] = queue.SimpleQueue()
            for own in itertools.islice(itertools.cycle(_native.thread_binding()), count):
                cpus.put(set(own))
            self._pool = ThreadPoolExecutor(count, initializer=_bind, initargs=(cpus,))

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items."""
        return map(work, items) if self._pool is None else self._pool.map(work, items)

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()


def _bind(cpus: queue.SimpleQueue[set[int]]) -> None:
    """Let the calling thread run on the next cpus."""
    os.sched_setaffinity(0, cpus.get())
