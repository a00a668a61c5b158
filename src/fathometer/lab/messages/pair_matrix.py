"""Messages between any two ranks, one pair at a time: the matrix of latencies and rates, and the order by distance."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.lab.messages.library import opened
from fathometer.lab.messages.places import nearest_order
from fathometer.parallel.collectives import (
    LARGEST_MESSAGE,
    LONG_NAP_SECONDS,
    allgather,
    barrier,
    synchronised,
)

SHORT, LONG = 8, 1 << 20  # bytes: of latency, of rate
EXCHANGES = {SHORT: 200, LONG: 5}  # of a sample; twice as many as often as it was too short
ROUNDS = 5
PROTOCOL = "send"


@dataclass
class PairMatrix:
    """Of each two ranks the medians over the rounds; zeros on the diagonal.

    latency_seconds: of a message of SHORT bytes, half of there and back. bytes_per_second: of LONG bytes. rounds: how
    many. wrong: bytes. complete: whether time allowed a value for each pair.
    """

    latency_seconds: list[list[float]]
    bytes_per_second: list[list[float]]
    rounds: int
    wrong: int
    complete: bool

    def as_dict(self, hosts: Sequence[str]) -> dict[str, Any]:
        """For a record."""
        return {
            "short_bytes": SHORT,
            "long_bytes": LONG,
            "protocol": PROTOCOL,
            "rounds": self.rounds,
            "hosts": list(hosts),
            "latency_seconds": self.latency_seconds,
            "bytes_per_second": self.bytes_per_second,
        }

    def order(self) -> list[int]:
        """Ranks, each followed by the nearest that is left."""
        return nearest_order(self.latency_seconds)


def measure_matrix(comm: MPI.Intracomm, seed: int, least_seconds: float, time_left: Callable[[], bool]) -> PairMatrix:
    """Collective. All pairs in a random order in each round.

    least_seconds: that a sample lasts. time_left: collective; whether another pair may be measured. A round that time
    ends is not counted but for the first.
    """
    size = comm.size
    samples: dict[tuple[int, int, int], list[float]] = {}
    pairs = list(itertools.combinations(range(size), 2))
    group = comm.Get_group()
    wrong = rounds = 0
    ended = False
    for number in range(ROUNDS):
        order = pairs.copy()
        random.Random(f"{seed} matrix {number}").shuffle(order)
        for i, j in order:
            if ended := not time_left():
                break
            for length, (seconds, bad) in _pair(comm, group, i, j, seed, least_seconds).items():
                samples.setdefault((i, j, length), []).append(seconds)
                wrong += bad
        if ended:
            break
        rounds += 1
    group.Free()
    latency = [[0.0] * size for _ in range(size)]
    rate = [[0.0] * size for _ in range(size)]
    for (i, j, length), values in samples.items():
        half = median(values)
        table, value = (latency, half) if length == SHORT else (rate, length / half)
        table[i][j] = table[j][i] = value
    return PairMatrix(latency, rate, rounds, wrong, len(samples) == len(EXCHANGES) * len(pairs))


def _pair(
    comm: MPI.Intracomm, group: MPI.Group, i: int, j: int, seed: int, least_seconds: float
) -> dict[int, tuple[float, int]]:
    """Seconds and wrong bytes of both lengths between two ranks, known to all."""
    found: dict[int, tuple[float, int]] = {}
    barrier(comm, LONG_NAP_SECONDS)
    if comm.rank in (i, j):
        with ledger.communication("messages"):
            members = group.Incl([i, j])
            pair = comm.Create_group(members)
            members.Free()
            for length, count in EXCHANGES.items():
                with opened(
                    comm=pair,
                    pattern="pair",
                    protocol=PROTOCOL,
                    direction="pingpong",
                    length=length,
                    packet=LARGEST_MESSAGE,
                    slots=1,
                    seed=seed,
                ) as exchange:
                    exchange.prepare(0)
                    exchange.series(pair, 2)
                    while pair.allreduce(seconds := exchange.series(pair, count), MPI.MAX) < least_seconds:
                        count *= 2
                    found[length] = seconds / count / 2, pair.allreduce(exchange.wrong())
            pair.Free()
    barrier(comm, LONG_NAP_SECONDS)
    return allgather(comm, found)[i]


def reordered(comm: MPI.Intracomm, order: Sequence[int]) -> MPI.Intracomm:
    """Collective. The same ranks in another order."""
    with synchronised(comm):
        return MPI.Intracomm(comm.Split(0, list(order).index(comm.rank)))
