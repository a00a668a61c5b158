"""The benchmark of messages: `fathometer messages`.

Every case is tried once, to find how many exchanges make a sample that is long against the clock; then samples are
taken in rounds, each in a random order of its own over pairs, protocols and lengths, so that what disturbs the machine
disturbs all of them alike. A time budget bounds the whole.
"""

from __future__ import annotations

import itertools
import random
import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.ledger import now
from fathometer.lab.messages import algorithms
from fathometer.lab.messages.cases import (
    ALGORITHMS_OF,
    ALLREDUCE_LENGTHS,
    COLLECTIVES,
    PAIR_PATTERNS,
    SHARED,
    Buffers,
    Direction,
    MessageCase,
    Timing,
    memory_of,
    protocols_for,
    require_used,
    usual_lengths,
)
from fathometer.lab.messages.library import Clock, calibrated_clock, can_flush, library
from fathometer.lab.messages.options import MessageOptions
from fathometer.lab.messages.pair_matrix import PairMatrix, measure_matrix, reordered
from fathometer.lab.messages.places import Place, choose_places
from fathometer.lab.messages.probes import LogGP, eager_limit
from fathometer.lab.messages.rows import Measurement, choices_of, contention_of, curves_of, row_of
from fathometer.lab.messages.sampling import Sampler, least_seconds
from fathometer.lab.statistics.differences import rounds_needed
from fathometer.parallel.collectives import LONG_NAP_SECONDS, allgather, barrier, collective_errors
from fathometer.parallel.memory_budget import memory_of_rank, require_memory, usable_memory
from fathometer.parallel.threads import Binding
from fathometer.record.envelope import Figure, record
from fathometer.record.machine import machine
from fathometer.record.ranks import account, disturbances, own_account

RESERVED_SHARE = 0.08  # of the budget, for what comes after the measurements
WARM_UP_SHARE = 0.4  # of the budget, for finding the number of exchanges of each case
MATRIX_SHARE = 0.2  # of the budget, at most, for the matrix of all pairs
MOST_MATRIX_RANKS = 128
ROUND_TRIPS: Mapping[str, Direction] = MappingProxyType({"pingpong": "pingpong", "echo": "echo"})
THREAD_LEVELS = MappingProxyType(
    {
        MPI.THREAD_SINGLE: "single",
        MPI.THREAD_FUNNELED: "funneled",
        MPI.THREAD_SERIALIZED: "serialized",
        MPI.THREAD_MULTIPLE: "multiple",
    }
)


class Benchmark:
    """The state of the benchmark on one rank; all methods are collective."""

    def __init__(self, options: MessageOptions, comm: MPI.Intracomm, clock: Clock, say: Callable[[str], None]) -> None:
        here = ledger.current()
        self._begin = here.start if here is not None else now()
        self._options, self._say = options, say
        self.comm, self.clock, self.notes = comm, clock, list[str]()
        self._least_seconds = float(max(allgather(comm, least_seconds(clock))))  # the same on all ranks
        self.hosts = allgather(comm, socket.gethostname())
        self.matrix: PairMatrix | None = None
        self.order = list(range(comm.size))
        self.places: list[Place] = []
        self.eager: dict[str, int | None] = {}
        self.loggp: dict[str, LogGP] = {}

    def seconds_left(self, share: float = 1.0) -> float:
        """Seconds of a share of the budget, the same on all ranks."""
        left = share * (1 - RESERVED_SHARE) * self._options.budget - (now() - self._begin)
        return float(self.comm.bcast(left))

    def arrange(self) -> None:
        """Measure all pairs, order the ranks, choose which of them exchange."""
        options = self._options
        if not set(PAIR_PATTERNS) & set(options.patterns):
            return
        if self.comm.size < 2:  # before anything is measured
            choose_places(self.hosts, options.classes, options.distances, options.pairs)
        choose_places(self.hosts, options.classes, () if options.order == "distance" else options.distances, ())
        if self.comm.size <= MOST_MATRIX_RANKS:
            self._say("all pairs, one at a time")
            self.matrix = measure_matrix(
                self.comm, options.seed, self._least_seconds, lambda: self.seconds_left(MATRIX_SHARE) > 0
            )
            if not self.matrix.complete:
                self._note("the matrix of all pairs is left out, for want of time")
        if options.order == "distance":
            if self.matrix is None or not self.matrix.complete:
                raise FathometerError("--order distance: all pairs must be measured first; allowed: a larger --budget")
            self.order = self.matrix.order()
            self.comm = reordered(self.comm, self.order)
            self.hosts = [self.hosts[rank] for rank in self.order]
        if self.matrix is not None and not self.matrix.complete:
            self.matrix = None
        self.places = choose_places(self.hosts, options.classes, options.distances, options.pairs)

    def _note(self, text: str) -> None:
        self.notes.append(text)
        self._say(f"note: {text}")

    def cases(self) -> list[MessageCase]:
        """All cases that are asked for, on these ranks."""
        options = self._options
        require_used(options.patterns, options.protocols)
        if "cold" in options.buffers and not can_flush():
            raise InputError("--buffers cold: this processor has no instruction to put memory out of its caches")
        chosen = algorithms.require(options.algorithms)
        cases: list[MessageCase] = []
        for pattern in options.patterns:
            if pattern in PAIR_PATTERNS:
                cases += self._pair_cases(pattern)
            else:
                cases += self._group_cases(pattern, [(ALGORITHMS_OF[call], name) for call, name in chosen])
        if not cases:
            raise InputError(f"--protocol {','.join(options.protocols)}: found no case that these ranks can measure")
        return self._that_fit(list(dict.fromkeys(cases)))

    def _pair_cases(self, pattern: str) -> list[MessageCase]:
        options = self._options
        directions: tuple[Direction, ...] = options.directions if pattern == "swap" else (ROUND_TRIPS[pattern],)
        cases = []
        for place in self.places:
            protocols = protocols_for(pattern, options.protocols)
            if place.kind != "in-node" and SHARED in protocols:
                if options.protocols == (SHARED,):
                    raise InputError(f"--protocol {SHARED}: found pairs {place.kind}; allowed: --class in-node")
                self._note(f"{SHARED} is left out: {place.name}: not all on one host")
                protocols = tuple(name for name in protocols if name != SHARED)
            cases += [
                MessageCase(pattern, protocol, direction, length, packet if packet < length else 0, buffers, place.name)
                for protocol in protocols
                for direction in directions
                # Of one way, the order of posting is no difference.
                if not (protocol == "irecv-isend" and direction == "one")
                for length in options.lengths or usual_lengths()
                for packet in options.packets
                for buffers in options.buffers
            ]
        return cases

    def _group_cases(self, pattern: str, chosen: Sequence[algorithms.Algorithm]) -> list[MessageCase]:
        options = self._options
        lengths = options.lengths or usual_lengths()
        if pattern == "barrier":
            lengths = (0,)
        elif pattern == "allreduce" and not options.lengths:
            lengths = ALLREDUCE_LENGTHS
        elif pattern == "allreduce":
            lengths = tuple(dict.fromkeys(length - length % 8 for length in lengths))
        timings: tuple[Timing, ...] = options.timings if pattern in COLLECTIVES else ("series",)
        buffers: tuple[Buffers, ...] = options.buffers if pattern != "barrier" else ("warm",)
        return [
            MessageCase(
                pattern=pattern,
                protocol=protocol,
                direction="",
                length=length,
                packet=0,
                buffers=kept,
                place="",
                timing=timing,
                algorithm=algorithm,
            )
            for protocol in protocols_for(pattern, options.protocols)
            for length in lengths
            for kept in buffers
            for timing in timings
            if not (timing == "window" and kept == "cold")
            for algorithm in ("", *(name for of, name in chosen if of == pattern))
            if not algorithm or protocol not in ("types", "pairwise")  # which do not call MPI_Alltoall
        ]

    def _that_fit(self, cases: list[MessageCase]) -> list[MessageCase]:
        """The cases whose buffers fit the memory: of lengths that were asked for all, else InputError."""
        usable = usable_memory(self.comm)
        most = memory_of_rank(self.comm, usable)
        sizes = {case: memory_of(case, self.comm.size) for case in cases}
        if self._options.lengths:
            largest = max(cases, key=lambda case: sizes[case])
            parts = {f"buffers of {largest.pattern} at {largest.length} B": sizes[largest]}
            require_memory(parts, usable, self.comm, "use a smaller --length or fewer ranks a host")
            return cases
        kept = [case for case in cases if sizes[case] <= most]
        for pattern in dict.fromkeys(case.pattern for case in cases):
            left = [case.length for case in cases if case.pattern == pattern and sizes[case] > most]
            if left:
                self._note(f"{pattern}: lengths from {min(left)} B on are left out: buffers do not fit the memory")
        return kept

    def measure(self, cases: list[MessageCase]) -> list[Measurement]:
        """Samples of all cases, in as many rounds as the budget allows."""
        sampler = self._sampler()
        measurements = self._warm_up(sampler, cases)
        rounds = 0
        while rounds < self._options.repeat:
            needed = sum(measurement.cost for measurement in measurements)
            if rounds and self.seconds_left() <= needed:
                break
            rounds += 1
            self._say(f"round {rounds} of {self._options.repeat}, {max(0.0, self.seconds_left()):.0f} s left")
            self._take_round(sampler, measurements, rounds)
        if rounds < self._options.repeat:
            self._note(f"the budget of {self._options.budget:g} s allowed {rounds} of {self._options.repeat} rounds")
        if lengthened := sum(measurement.too_short for measurement in measurements):
            self._note(
                f"samples that were too short against the clock and taken again, with twice the exchanges: {lengthened}"
            )
        sampler.close()
        return [measurement for measurement in measurements if measurement.samples]

    def _sampler(self) -> Sampler:
        chosen = algorithms.require(self._options.algorithms)
        comms = {(ALGORITHMS_OF[call], name): algorithms.communicator(self.comm, call, name) for call, name in chosen}
        return Sampler(self.comm, self.places, comms, self._least_seconds, self._options.seed)

    def _warm_up(self, sampler: Sampler, cases: list[MessageCase]) -> list[Measurement]:
        """The number of exchanges of each case's samples; cases for which no time is left are noted: rather a case less
        than rounds that can tell nothing."""
        self._say(f"warm-up: {len(cases)} cases")
        measurements, left = list[Measurement](), list[MessageCase]()
        fewest = min(self._options.repeat, rounds_to_tell(cases))
        for case in spread(cases):
            needed = fewest * sum(measurement.cost for measurement in measurements)
            if measurements and (self.seconds_left(WARM_UP_SHARE) <= 0 or self.seconds_left() <= needed):
                left.append(case)
                continue
            repetitions, _ = sampler.calibrate(case)
            begin = now()
            sampler.take(case, repetitions)
            measurements.append(Measurement(case, repetitions, float(self.comm.bcast(now() - begin))))
        if left:
            self._note(f"{len(left)} of {len(cases)} cases are left out, for want of time, such as: {left[0]}")
        return measurements

    def _take_round(self, sampler: Sampler, measurements: list[Measurement], number: int) -> None:
        """Each case once, in random order, and what is asked of single pairs."""
        turns = measurements.copy()
        random.Random(f"{self._options.seed} {number}").shuffle(turns)
        for turn in turns:
            if number == 1 or self.seconds_left() > turn.cost:
                turn.repetitions, again, turn.samples[number] = sampler.take_long(turn.case, turn.repetitions)
                turn.too_short += again
        for place in self.places:
            if len(place.pairs) == 1:
                self._probe(sampler, place)

    def _probe(self, sampler: Sampler, place: Place) -> None:
        kept = self.loggp.setdefault(place.name, LogGP())
        first = place.name not in self.eager
        limit = None
        pair = sampler.pair(place.name)
        barrier(self.comm, LONG_NAP_SECONDS)
        if pair is not None:
            with ledger.communication("probes"):
                kept.take(pair, self._least_seconds)
                limit = eager_limit(pair) if first else None
        barrier(self.comm, LONG_NAP_SECONDS)
        gathered = allgather(self.comm, (kept, limit))
        self.loggp[place.name], limit = gathered[place.pairs[0][0]]
        if first:
            self.eager[place.name] = limit


def rounds_to_tell(cases: Sequence[MessageCase]) -> int:
    """With fewer rounds the fastest of as many ways as there are at one length could not be told, nor an interval."""
    ways = Counter(
        (case.pattern, case.direction, case.length, case.packet, case.buffers, case.place, case.timing)
        for case in cases
    )
    most = max(ways.values(), default=1)
    return rounds_needed(most * (most - 1) // 2)


def spread(cases: Sequence[MessageCase]) -> list[MessageCase]:
    """The cases in an order of which any first part can stand for the whole: the shortest and the longest messages of
    all ways, then those in the middle, then those between them …"""
    lengths = {
        case.pattern: sorted({other.length for other in cases if other.pattern == case.pattern}) for case in cases
    }
    turns = {pattern: _halving(values) for pattern, values in lengths.items()}
    return sorted(cases, key=lambda case: (turns[case.pattern][case.length], random.Random(str(case)).random()))


def _halving(values: Sequence[int]) -> dict[int, int]:
    """In which turn each value comes: the ends, and then always the middle of the widest gap.

    >>> _halving([1, 2, 4, 8, 16])
    {1: 0, 16: 1, 4: 2, 2: 3, 8: 4}
    """
    places = list(dict.fromkeys((0, len(values) - 1)))
    while len(places) < len(values):
        taken = sorted(places)
        first, last = max(itertools.pairwise(taken), key=lambda gap: gap[1] - gap[0])
        places.append((first + last) // 2)
    return {values[place]: turn for turn, place in enumerate(places)}


def run_messages(
    options: MessageOptions, comm: MPI.Intracomm, binding: Binding, command: tuple[str, ...], say: Callable[[str], None]
) -> dict[str, Any]:
    """Collective. Measure; the record (on rank 0).

    Raises InputError and FathometerError, the same on all ranks: the loops for MPI are not there, the options cannot be
    measured on these ranks, a message arrived with wrong contents.
    """
    with collective_errors(comm):
        library()
        clock = calibrated_clock()
    with ledger.phase("between measurements"):
        benchmark = Benchmark(options, comm, clock, say)
        benchmark.arrange()
        cases = benchmark.cases()
        measurements = benchmark.measure(cases)
    with ledger.phase("finish"):
        accounts = allgather(comm, own_account(binding))
        clocks = allgather(comm, clock)
    if comm.rank:
        return {}
    places = {place.name: place for place in benchmark.places}
    rows = [row_of(measurement, places.get(measurement.case.place)) for measurement in measurements]
    order = {str(case): number for number, case in enumerate(cases)}
    ranked = sorted(zip(rows, measurements, strict=True), key=lambda entry: order[str(entry[1].case)])
    rows = [row for row, _ in ranked]
    results = results_of(rows, benchmark, options, clocks)
    return record(
        application="messages",
        command=command,
        input=options.as_dict(),
        machine=machine() | {"ranks": comm.size, "binding": [rank["binding"] for rank in accounts]},
        account=account(accounts),
        figures=figures_of(results),
        results=results,
        reasons=[wrong_line(row) for row in rows if row["wrong_bytes"]],
        disturbed=disturbances(accounts),
    )


def results_of(
    rows: list[dict[str, Any]], benchmark: Benchmark, options: MessageOptions, clocks: Sequence[Clock]
) -> dict[str, Any]:
    """The results of a record."""
    return {
        "thread_level": THREAD_LEVELS.get(MPI.Query_thread(), "unknown"),
        "mpi": MPI.Get_library_version().rstrip("\0").split(",")[0],
        "clock": {
            "resolution_seconds": max(clock.resolution for clock in clocks),
            "cost_seconds": max(clock.cost for clock in clocks),
        },
        "hosts": benchmark.hosts,
        "order": benchmark.order,
        "places": [
            {"name": place.name, "class": place.kind, "distance": place.distance, "pairs": place.pairs}
            for place in benchmark.places
        ],
        "rows": rows,
        "curves": curves_of(rows, options.seed),
        "choices": choices_of(rows, options.seed),
        "contention": contention_of(rows),
        "eager_limits": [{"place": name, "bytes": limit} for name, limit in benchmark.eager.items()],
        "loggp": [{"place": name, **kept.as_dict()} for name, kept in benchmark.loggp.items()],
        "matrix": benchmark.matrix.as_dict(benchmark.hosts) if benchmark.matrix is not None else None,
        "notes": benchmark.notes,
    }


def figures_of(results: dict[str, Any]) -> list[Figure]:
    """Of each place the least latency and the highest rates of what was measured."""
    figures = []
    for place in [*(entry["name"] for entry in results["places"]), ""]:
        rows = [row for row in results["rows"] if row["place"] == place and row["seconds"]]
        if not place:
            for row in rows:
                name = ", ".join(
                    str(row[key]) for key in ("pattern", "protocol", "length_bytes", "timing", "algorithm") if row[key]
                )
                figures.append(Figure(name, row["seconds"], "seconds", "lower", "context"))
        elif rows:
            least = min(rows, key=lambda row: row["seconds"])
            most = max(rows, key=lambda row: row["aggregate_bytes_per_second"] or 0.0)
            figures.append(Figure(f"least latency, {place}", least["seconds"], "seconds", "lower"))
            rate = most["aggregate_bytes_per_second"]
            figures.append(Figure(f"highest aggregate rate, {place}", rate, "bytes_per_second", "higher"))
    return figures


def wrong_line(row: dict[str, Any]) -> str:
    """Which messages arrived with wrong contents."""
    return f"{row['pattern']} {row['protocol']}, {row['length_bytes']} B: {row['wrong_bytes']} wrong bytes"


def require_right(envelope: dict[str, Any]) -> None:
    """Raises FathometerError where a message arrived with wrong contents."""
    if wrong := [row for row in envelope["results"]["rows"] if row["wrong_bytes"]]:
        others = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise FathometerError(f"messages arrived with wrong contents: {wrong_line(wrong[0])}{others}")
