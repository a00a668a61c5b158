"""The account of seconds: the only clock of the program."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


def now() -> float:
    """Seconds on this host's steady clock; only differences on one host mean anything."""
    return time.perf_counter()


class Ledger:
    """Seconds per phase of the algorithm. Times are exclusive: a phase inside another is not counted twice."""

    def __init__(self) -> None:
        self._start = now()
        self._seconds: dict[str, float] = {}
        self._inner: list[float] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time spent inside, less that of phases inside it, to `name`."""
        start = now()
        self._inner.append(0.0)
        try:
            yield
        finally:
            elapsed = now() - start
            self._seconds[name] = self._seconds.get(name, 0.0) + elapsed - self._inner.pop()
            if self._inner:
                self._inner[-1] += elapsed

    @property
    def total(self) -> float:
        """Seconds since the account was opened."""
        return now() - self._start

    def seconds(self, name: str) -> float:
        """Seconds of one phase so far."""
        return self._seconds.get(name, 0.0)

    def as_dict(self) -> dict[str, float]:
        """Seconds per phase, in the order in which phases first ended."""
        return dict(self._seconds)
