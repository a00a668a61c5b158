"""What is asked of one pair beside its series: up to which length MPI sends eagerly, and LogGP's round trips."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.lab.messages.cases import SHORTEST
from fathometer.lab.messages.fits import loggp
from fathometer.lab.messages.library import is_eager, round_trip

LOGGP_BYTES = (8, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
COUNT = 16  # messages of a parametrised round trip
TRIES = 3  # of each round trip in a round, each long against the clock; the median
EAGER_PATIENCE = 5e-3  # s that an eager message may take to leave
LAST_PATIENCE = 0.1  # s, for the shortest message that did not leave
LONGEST_EAGER = 1 << 24  # bytes
WARM_UP = 100  # messages before the first question


def eager_limit(pair: MPI.Intracomm) -> int | None:
    """Collective over a pair. The longest message, bytes, that leaves its sender before its receiver has asked for it,
    by bisection; None where even LONGEST_EAGER bytes do."""
    for length in (SHORTEST, LOGGP_BYTES[1], LOGGP_BYTES[2]):  # connected, with the buffers that a busy pair has
        round_trip(pair, WARM_UP, 0.0, length)
    low, high = 0, LONGEST_EAGER
    if _leaves(pair, high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _leaves(pair, middle):
            low = middle
        else:
            high = middle
        if high - low == 1 and is_eager(pair, high, LAST_PATIENCE):  # the receiver had been kept from its core
            low, high = high, LONGEST_EAGER
    return low


def _leaves(pair: MPI.Intracomm, length: int) -> bool:
    """Whether a message leaves; asked twice before it is denied, since other messages may have filled the buffers."""
    return is_eager(pair, length, EAGER_PATIENCE) or is_eager(pair, length, EAGER_PATIENCE)


@dataclass
class LogGP:
    """Parametrised round trips of a pair, a row of seconds over LOGGP_BYTES for each round.

    repetitions: of a round trip of each kind and length, so that they last long enough together.
    """

    one: list[list[float]] = field(default_factory=list)
    many: list[list[float]] = field(default_factory=list)
    delayed: list[list[float]] = field(default_factory=list)
    delay: list[list[float]] = field(default_factory=list)
    repetitions: dict[tuple[str, int], int] = field(default_factory=dict)

    def take(self, pair: MPI.Intracomm, least_seconds: float) -> None:
        """Collective over the pair. One round; the seconds are rank 0's. least_seconds: that a sample lasts."""

        def median(kind: str, count: int, delay: float, length: int) -> float:
            return float(
                np.median([self._long(pair, least_seconds, (kind, length), count, delay) for _ in range(TRIES)])
            )

        rows: tuple[list[float], ...] = ([], [], [], [])
        for length in LOGGP_BYTES:
            one = median("one", 1, 0.0, length)
            many = median("many", COUNT, 0.0, length)
            # Longer than a message needs, so that each finds the way free.
            delay = float(pair.bcast(2 * one))
            delayed = median("delayed", COUNT, delay, length)
            for row, value in zip(rows, (one, many, delayed, delay), strict=True):
                row.append(value)
        for kept, row in zip((self.one, self.many, self.delayed, self.delay), rows, strict=True):
            kept.append(row)

    def _long(
        self, pair: MPI.Intracomm, least_seconds: float, kind: tuple[str, int], count: int, delay: float
    ) -> float:
        """Seconds of a round trip, of so many that the clock is no part of them: twice as many where it was."""
        while True:
            repetitions = self.repetitions.setdefault(kind, 1)
            seconds = float(pair.bcast(round_trip(pair, count, delay, kind[1], repetitions)))
            if seconds * repetitions >= least_seconds:
                return seconds
            self.repetitions[kind] = 2 * repetitions

    def as_dict(self) -> dict[str, Any]:
        """The parameters with their intervals, for a record."""
        one, many, delayed, delay = (np.array(kept) for kept in (self.one, self.many, self.delayed, self.delay))
        values = loggp(LOGGP_BYTES, one, many, delayed, delay, COUNT)
        return {"lengths_bytes": LOGGP_BYTES, "rounds": len(self.one), **values}
