"""One sample: a series of exchanges of one case, its seconds, and the check of what arrived. Where buffers stay in the
caches, one exchange before the series does not count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.lab.messages.cases import PAIR_PATTERNS, MessageCase
from fathometer.lab.messages.library import Clock, Exchange, now, opened
from fathometer.lab.messages.places import Place
from fathometer.lab.messages.synchronisation import CommonClock
from fathometer.parallel.collectives import (
    LARGEST_MESSAGE,
    LONG_NAP_SECONDS,
    NAP_SECONDS,
    allgather,
    barrier,
    synchronised,
)

CLOCKS = 1000  # times resolution and cost of the clock that a sample lasts at least
AIMED = 1.5  # times the shortest sample: what is aimed at, since the next one may be faster
SHORTEST_SAMPLE = 2e-4  # s
MOST_SINGLES = 100  # exchanges of a sample that are timed each alone
MOST_WINDOWS = 50  # exchanges of a sample that begin at agreed times
LONGEST_SINGLES = 2e-2  # s that either of these may take beside the series
TRIAL_EXCHANGES = 10  # by which the length of such a time is chosen
WINDOW = 3.0  # times an exchange's seconds between two such times
LEAST_WINDOW, LEAD = 5e-5, 1e-3  # s: of such a time, and before the first of them

Numbers = NDArray[np.float64]


@dataclass
class Sample:
    """What a series says.

    Attributes:
        seconds: of one exchange, of the slowest pair or rank; halved where it is a message there and back.
        by_pair: the same of each pair; empty for patterns of all ranks.
        singles: of exchanges timed each alone, with one reading of the clock each. wrong: bytes.
        bytes: sent by all ranks in one exchange. clock_error: of agreed times, s. late: the share of exchanges whose
            agreed time some rank missed. duration: of the series, s; None of agreed times.
    """

    seconds: float
    by_pair: list[float] = field(default_factory=list)
    singles: Sequence[float] = ()
    wrong: int = 0
    bytes: int = 0
    clock_error: float | None = None
    late: float | None = None
    duration: float | None = None


def least_seconds(clock: Clock) -> float:
    """How long a sample lasts at least, so that the clock is no part of what it says."""
    return max(SHORTEST_SAMPLE, CLOCKS * (clock.resolution + clock.cost))


class Sampler:
    """Takes samples on the ranks of a communicator; all methods are collective over it.

    algorithms: communicators with an algorithm of the MPI's, by pattern and its name. places: where pairs exchange.
    shortest: seconds that a sample lasts, the same on all ranks.
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        places: Sequence[Place],
        algorithms: Mapping[tuple[str, str], MPI.Intracomm],
        shortest: float,
        seed: int,
    ) -> None:
        self._comm, self._seed = comm, seed
        self._places = {place.name: place for place in places}
        self._pairs = {place.name: _pair_communicators(comm, place) for place in places}
        self._algorithms = dict(algorithms)
        self.least_seconds = shortest
        self._common: CommonClock | None = None
        self._series = 0

    def pair(self, place: str) -> MPI.Intracomm | None:
        """The communicator of this rank's pair at a place; None for a rank that waits."""
        return self._pairs[place].pair

    def nap(self, case: MessageCase) -> float:
        """Seconds that a rank which has nothing to do in a case sleeps between two looks."""
        place = self._places.get(case.place)
        waiting = place is not None and 2 * len(place.pairs) < self._comm.size
        return LONG_NAP_SECONDS if waiting else NAP_SECONDS

    def calibrate(self, case: MessageCase) -> tuple[int, Sample]:
        """How many exchanges make a sample that is long against the clock, and the sample of the last trial."""
        repetitions = max(1, case.slots if case.slots > 1 else 1)
        if case.timing == "window":  # whose number follows from their length
            return TRIAL_EXCHANGES, self.take(case, TRIAL_EXCHANGES)
        self.take(case, repetitions)  # connects, and touches the memory
        while True:
            # The shorter of two: one that something disturbed would say that fewer are enough.
            sample = min((self.take(case, repetitions) for _ in range(2)), key=lambda one: one.seconds)
            exchange = max(sample.seconds * case.messages_per_exchange, 1e-9)
            if exchange * repetitions >= self.least_seconds:
                return repetitions, sample
            repetitions = min(10 * repetitions, math.ceil(AIMED * self.least_seconds / exchange))

    def take_long(self, case: MessageCase, repetitions: int) -> tuple[int, int, Sample]:
        """A sample that is long against the clock: as often as one was too short, it is taken again with twice as many
        exchanges. How many it had at last, how often it was taken again, and the sample."""
        again = 0
        while True:
            sample = self.take(case, repetitions)
            if sample.duration is None or sample.duration >= self.least_seconds:
                return repetitions, again, sample
            repetitions, again = 2 * repetitions, again + 1

    def take(self, case: MessageCase, repetitions: int) -> Sample:
        """One sample; the same on all ranks.

        Raises FathometerError where MPI or memory refuses the case: on one rank alone it ends the run, since the others
        may wait for it within MPI.
        """
        self._series += 1
        own = _Own()
        comm, start = self._communicators(case)
        barrier(self._comm, self.nap(case))
        if comm is not None and start is not None:
            with ledger.communication("messages"):
                try:
                    own = self._take(case, repetitions, comm, start)
                except FathometerError as error:
                    raise FathometerError(f"{error} ({case}); allowed: --protocol and --length without it") from None
        barrier(self._comm, self.nap(case))
        sample = self._together(case, allgather(self._comm, own))
        if case.timing == "series":
            sample.duration = sample.seconds * case.messages_per_exchange * repetitions
        return sample

    def _communicators(self, case: MessageCase) -> tuple[MPI.Intracomm | None, MPI.Intracomm | None]:
        if case.pattern in PAIR_PATTERNS:
            return self._pairs[case.place].pair, self._pairs[case.place].active
        comm = self._algorithms[case.pattern, case.algorithm] if case.algorithm else self._comm
        return comm, comm

    def _take(self, case: MessageCase, repetitions: int, comm: MPI.Intracomm, start: MPI.Intracomm) -> _Own:
        pattern = "pair" if case.pattern in PAIR_PATTERNS else case.pattern
        packet = case.packet or LARGEST_MESSAGE
        words = (pattern, case.protocol, case.direction, case.length, packet, case.slots, self._seed)
        with opened(comm, *words) as exchange:
            exchange.prepare(self._series)
            if case.timing == "window":
                return self._in_windows(exchange, comm, repetitions)
            own = _Own(role=comm.rank, bytes=exchange.bytes_sent)
            if case.slots == 1:  # what filled the buffers has left them in other caches than an exchange does
                exchange.series(start, 1)
            own.seconds = exchange.series(start, repetitions) / repetitions
            own.wrong = exchange.wrong()
            slowest = start.allreduce(own.seconds, MPI.MAX)
            singles = min(repetitions, MOST_SINGLES, int(LONGEST_SINGLES / max(slowest, 1e-9)))
            if singles > 1 and case.slots == 1:
                exchange.prepare(self._series)
                own.singles = exchange.each(start, singles)
                own.wrong += exchange.wrong()
        return own

    def _in_windows(self, exchange: Exchange, comm: MPI.Intracomm, repetitions: int) -> _Own:
        """Exchanges that begin at agreed times of the common clock."""
        if self._common is None:
            self._common = CommonClock(comm)
        common, own = self._common, _Own(role=comm.rank, bytes=exchange.bytes_sent)
        trial = exchange.series(comm, repetitions) / repetitions
        expected = comm.allreduce(trial, MPI.MAX)
        common.update()
        error = max(0.0, common.offset.error)
        window = max(LEAST_WINDOW, WINDOW * expected) + 2 * comm.allreduce(error, MPI.MAX)
        count = max(2, min(MOST_WINDOWS, int(LONGEST_SINGLES / window)))
        first = comm.bcast(now() + LEAD + window)
        own.ends = exchange.windows(first, window, common.offset.middle, common.drift, common.offset.reading, count)
        own.wrong = exchange.wrong()
        own.clock_error = common.error()
        return own

    def _together(self, case: MessageCase, everywhere: list[_Own]) -> Sample:
        """The sample of what all ranks saw."""
        taking = [own for own in everywhere if own.role is not None]
        wrong, sent = sum(own.wrong for own in taking), sum(own.bytes for own in taking)
        if case.timing == "window":
            ends = np.array([own.ends for own in taking])
            kept = ends[:, (ends >= 0).all(axis=0)]
            seconds = kept.max(axis=0) if kept.size else np.array([np.nan])
            error = max(own.clock_error for own in taking)
            late = 1.0 - kept.shape[1] / ends.shape[1]
            return Sample(float(np.median(seconds)), [], tuple(seconds), wrong, sent, error, late)
        halves = case.messages_per_exchange
        if case.pattern in PAIR_PATTERNS:
            pairs = [[everywhere[rank] for rank in pair] for pair in self._places[case.place].pairs]
            by_pair = [
                max(own.seconds for own in pair[: 1 if case.direction == "one" else 2]) / halves for pair in pairs
            ]
            # One way, the sender waits for the end of the series; its single calls return before a message is there.
            one_way = case.direction == "one"
            seen = [pair[1 if one_way else 0].singles for pair in pairs]
            singles = np.concatenate([np.asarray(part) for part in seen]) / halves
            return Sample(max(by_pair), by_pair, tuple(singles), wrong, sent)
        together = np.max([own.singles for own in taking], axis=0) if len(taking[0].singles) else np.empty(0)
        return Sample(max(own.seconds for own in taking), [], tuple(together), wrong, sent)

    def close(self) -> None:
        """Free the communicators."""
        for pairs in self._pairs.values():
            pairs.close()
        for comm in self._algorithms.values():
            comm.Free()


@dataclass
class _Own:
    """What one rank saw; role: its number in the communicator of the exchange, None for a rank that waited."""

    role: int | None = None
    seconds: float = 0.0
    singles: Numbers = field(default_factory=lambda: np.empty(0))
    ends: Numbers = field(default_factory=lambda: np.empty(0))
    wrong: int = 0
    bytes: int = 0
    clock_error: float = 0.0


@dataclass(frozen=True)
class _Pairs:
    """Of a rank at a place: its pair, all ranks that exchange, and what is held beside them."""

    pair: MPI.Intracomm | None
    active: MPI.Intracomm | None
    held: list[MPI.Intracomm]

    def close(self) -> None:
        for comm in self.held:
            comm.Free()


def _pair_communicators(comm: MPI.Intracomm, place: Place) -> _Pairs:
    """Collective. Those of a place.

    Open MPI (4.1) names the shared memory of a window after the number of its communicator, which disjoint ones may
    have in common: the n-th pair holds n more of them, so that no two pairs make windows under one name.
    """
    number = place.pair_of(comm.rank)
    with synchronised(comm):
        active = comm.Split(MPI.UNDEFINED if number is None else 0, comm.rank)
        split = comm.Split(MPI.UNDEFINED if number is None else number, comm.rank)
    if number is None:
        return _Pairs(None, None, [])
    held = [MPI.Intracomm(split)]
    held += [held[0].Dup() for _ in range(number)]
    return _Pairs(held[-1], MPI.Intracomm(active), [*held, MPI.Intracomm(active)])
