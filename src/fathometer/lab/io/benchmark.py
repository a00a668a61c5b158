"""The course of `fathometer io`: every case once on a small volume, once uncounted, then in rounds of random order in
turns with the device's own rate, then the winners again on fresh files. A budget of time bounds all of it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.ledger import now
from fathometer.lab.io.cases import OPERATIONS, Case, choose
from fathometer.lab.io.device import MOST_HELD, PIECE, Device
from fathometer.lab.io.folder import scratch
from fathometer.lab.io.pattern import Pattern
from fathometer.lab.io.ranking import Capped, Failed, Raw, figures_of, row_of, winners
from fathometer.lab.io.trial import FORGOTTEN, Bench, Sample
from fathometer.parallel.collectives import LONG_NAP_SECONDS, all_arrived, allgather, collective_errors
from fathometer.parallel.decomposition import Index3, choose_ranks
from fathometer.parallel.memory_budget import require_memory, usable_memory
from fathometer.parallel.threads import Binding
from fathometer.record.envelope import record
from fathometer.record.machine import machine
from fathometer.record.ranks import account, disturbances, own_account
from fathometer.storage import atomic

ITEM = 4  # float32
PROBE = 1 << 23  # bytes of the small volume; of smaller ones there is no other
PROBE_LIST = 1 << 20  # the same where MPI-IO gets a list of elements
LIST_BYTES = 1 << 24  # of a volume whose elements are listed one by one: some 160 B of memory for each of 4 Mi elements
SHORTEST = 2  # cells of an axis: files do not tell shorter ones
LONGEST = 1 / 8  # of the budget: a case that would take longer once gets a smaller volume
AGAIN = 3  # times that a winner is run on fresh files
YARDSTICKS = 3  # times that the device's own rate is taken in the first round
RESERVE = 0.08  # of the budget, for what comes after the measurements
SPACE = 1.05  # headers of files and folders


@dataclass(frozen=True)
class Request:
    """What to measure: see the options of `fathometer io`. grid: cells (x, y, z), ny = 1 in two dimensions;
    decomposition: ranks along x, y, z, None: as a run would choose; budget: seconds."""

    folder: Path
    grid: Index3
    strategies: tuple[str, ...]
    formats: tuple[str, ...]
    operations: tuple[str, ...]
    repeat: int
    halo: int
    decomposition: Index3 | None
    budget: float
    seed: int
    data: str

    def as_dict(self) -> dict[str, Any]:
        """For a record."""
        return {
            "folder": self.folder.resolve(),
            "grid": self.grid,
            "strategies": self.strategies,
            "formats": self.formats,
            "operations": self.operations,
            "repeat": self.repeat,
            "halo": self.halo,
            "decomposition": self.decomposition,
            "budget_seconds": self.budget,
            "seed": self.seed,
            "data": self.data,
        }


@dataclass
class Measured:
    """What was found of one case. cost: seconds of a trial with all that it needs, as far as it is known; failed: why
    it was set aside."""

    case: Case
    bench: Bench
    capped: Capped | None = None
    cost: float = 0.0
    failed: str = ""
    samples: list[Sample] = field(default_factory=list)


class Course:
    """One run of the benchmark on one rank; all methods are collective."""

    def __init__(self, request: Request, comm: MPI.Intracomm, folder: Path, say: Callable[[str], None]) -> None:
        host = comm.Split_type(MPI.COMM_TYPE_SHARED)
        self._apart = host.size if host.size < comm.size else 1
        host.Free()
        self._request, self._comm, self._folder, self._say = request, comm, folder, say
        here = ledger.current()
        self._begin = here.start if here is not None else now()
        self.notes: list[str] = []
        self.failed: list[Failed] = []
        self._failing = comm.Dup()  # where those meet that fail, while the others may be in any call
        self.full = self._bench(request.grid)
        self.raw = Raw({name: {True: [], False: []} for name in request.operations})
        with collective_errors(comm):
            self._device = Device(folder, self.full.bytes, self.full.block) if comm.rank == 0 else None

    def _bench(self, grid: Index3) -> Bench:
        shape = grid if grid[1] > 1 else (grid[0], grid[2])
        ranks = ranks_of(self._request, self._comm.size)
        pattern = Pattern(shape, self._request.seed, self._request.data)
        return Bench(self._folder, self._comm, pattern, ranks, self._request.halo, self._apart)

    def _smaller(self, size: float) -> Index3:
        """The grid, cut along x and then y so that it has about `size` bytes, no rank is without a cell, and no axis
        is lost."""
        grid, ranks = list(self._request.grid), ranks_of(self._request, self._comm.size)
        for axis in range(3):
            share = size / (ITEM * math.prod(grid))
            if share < 1:
                grid[axis] = max(ranks[axis], min(SHORTEST, grid[axis]), round(grid[axis] * share))
        return grid[0], grid[1], grid[2]

    def left(self) -> float:
        """Seconds of the budget, the same on all ranks."""
        reserve = RESERVE * self._request.budget
        return float(self._comm.bcast(self._request.budget - reserve - (now() - self._begin)))

    def _trial(self, bench: Bench, case: Case) -> tuple[Sample, float]:
        """A trial and the seconds that it took with all that it needs."""
        begin = now()
        sample = bench.write(case) if case.operation == "write" else bench.read(case)
        return sample, float(self._comm.bcast(now() - begin))

    @contextmanager
    def _setting_aside(self, one: Measured) -> Iterator[None]:
        """What fails on all ranks alike sets one case aside; what fails on some only is raised, and ends all."""
        try:
            yield
        except FathometerError as error:
            if not all_arrived(self._failing):
                raise
            one.failed = str(error).replace(f"{self._folder}/", "")
            self.failed.append(Failed(one.case.operation, str(one.case.strategy), one.case.format, one.failed))
            self._say(f"failed: {self.failed[-1]}")
            one.bench.remove_written()

    def _working(self, every: list[Measured]) -> list[Measured]:
        """Those that were not set aside; FathometerError where nothing is left to rank."""
        kept = [one for one in every if not one.failed]
        if not kept:
            raise FathometerError(self.failed[0].why)
        return kept

    def measure(self, cases: list[Case]) -> list[Measured]:
        """All cases, as many repetitions as the budget bears."""
        every = self._working([self._sized(case) for case in cases])
        every = self._bearable(self._working(self._warmed(every)))
        rounds = 0
        while rounds < self._request.repeat and (rounds == 0 or self.left() > self._again(every) + self._round(every)):
            rounds += 1
            self._say(f"round {rounds} of {self._request.repeat}, {max(0.0, self.left()):.0f} s left")
            self._take_round(every, rounds)
            every = self._working(every)
        if rounds < self._request.repeat:
            self.notes.append(
                f"the budget of {self._request.budget:g} s bore {rounds} of {self._request.repeat} repetitions"
            )
            self._say(self.notes[-1])
        return every

    def _take_round(self, every: list[Measured], number: int) -> None:
        """Each case once and the device in between, in random order."""
        turns: list[Measured | tuple[str, bool]] = list(every)
        for operation in self.raw.rates:
            # One value would be a poor yardstick, however short the time.
            turns += [(operation, direct) for direct in (False, True)] * (YARDSTICKS if number == 1 else 1)
        random.Random(f"{self._request.seed} {number}").shuffle(turns)
        for turn in turns:
            if isinstance(turn, tuple):
                self._device_rate(*turn)
            elif not turn.samples or self.left() > turn.cost:
                with self._setting_aside(turn):
                    sample, seconds = self._trial(turn.bench, turn.case)
                    turn.samples.append(sample)
                    turn.cost += (seconds - turn.cost) / (len(turn.samples) + 1)  # the mean, the warm-up's included

    def _round(self, every: list[Measured]) -> float:
        """Seconds of a round."""
        return sum(one.cost for one in every) + self.raw.seconds

    def _again(self, every: list[Measured]) -> float:
        """Seconds of the winners once more, at most."""
        return sum(max((o.cost for o in every if o.case.operation == name), default=0.0) for name in OPERATIONS)

    def _sized(self, case: Case) -> Measured:
        """A case with the volume that memory and time bear, by a look at a small one."""
        one = Measured(case, self.full)
        small = PROBE_LIST if case.listed else PROBE
        if self.full.bytes <= small:
            return one
        probe = self._bench(self._smaller(small))
        longest = LONGEST * self._request.budget
        with self._setting_aside(one):
            for _ in range(2):  # the first may load libraries
                one.cost = self._trial(probe, case)[1] * self.full.bytes / probe.bytes
                if one.cost <= longest:
                    break
        if one.failed:
            return one
        size = float(self.full.bytes)
        if case.listed and size > LIST_BYTES * self._comm.size:
            size, why = LIST_BYTES * self._comm.size, "a list of single elements takes some 160 B of memory for each"
        if one.cost * size / self.full.bytes > longest:
            size, why = longest / one.cost * self.full.bytes, f"the whole would take some {one.cost:.0f} s"
        if size < self.full.bytes:
            grid = self._smaller(size)
            one.bench = self._bench(grid)
            one.cost *= one.bench.bytes / self.full.bytes
            one.capped = Capped(grid, why)
            self._say(f"{case}: on {' x '.join(map(str, grid))} cells only: {why}")
        return one

    def _warmed(self, every: list[Measured]) -> list[Measured]:
        """Each case once, uncounted; those for which no time is left are told."""
        kept: list[Measured] = []
        for operation in self.raw.rates:
            for direct in (False, True):
                self._device_rate(operation, direct, count=False)
        with collective_errors(self._comm), atomic.writing(self._folder):
            if self._device is not None and self._device.forgotten() > FORGOTTEN:
                self.notes.append(f"{self._request.folder}: files there stay in memory; no rate is one of a device")
                self._say(self.notes[-1])
        for one in every:
            # Of each operation there is to be one, however short the time.
            if any(o.case.operation == one.case.operation for o in kept) and self.left() < 2 * one.cost:
                self._without(one)
                continue
            self._say(f"warm-up: {one.case}")
            with self._setting_aside(one):
                # A first trial writes what is read, so that it says too much of the cost of the next one.
                if one.case.operation == "read":
                    one.bench.source(one.case)
                _, one.cost = self._trial(one.bench, one.case)
                kept.append(one)
        return kept

    def _bearable(self, every: list[Measured]) -> list[Measured]:
        """The cases that the time bears once: the slowest go first, and one of each operation stays."""
        kept = list(every)
        yardstick = (YARDSTICKS - 1) * self.raw.seconds
        while len(kept) > len(self.raw.rates) and self.left() < self._round(kept) + yardstick + self._again(kept):
            several = [o for o in kept if sum(other.case.operation == o.case.operation for other in kept) > 1]
            worst = max(several, key=lambda one: one.cost)
            kept.remove(worst)
            self._without(worst)
        return kept

    def _without(self, one: Measured) -> None:
        cost = f", some {one.cost:.2g} s a trial" if one.cost else ""
        self.notes.append(f"left out, for want of time: {one.case}{cost}")
        self._say(self.notes[-1])

    def _device_rate(self, operation: str, direct: bool, count: bool = True) -> None:
        """The device's own rate, by rank 0 while the others wait."""
        seconds = None
        with collective_errors(self._comm, LONG_NAP_SECONDS), ledger.phase("raw rate"):
            if self._device is not None:
                if operation == "read":
                    if not self._device.path.exists():
                        self._device.write(False)
                    with atomic.writing(self._device.path):
                        self._device.forgotten()
                seconds = self._device.write(direct) if operation == "write" else self._device.read(direct)
        seconds = self._comm.bcast(seconds)
        size = self._comm.bcast(self._device.size if self._device is not None else 0)
        if seconds is None:
            return
        if count:
            self.raw.rates[operation][direct].append(size / seconds)
        else:
            self.raw.seconds += seconds

    def again(self, every: list[Measured]) -> dict[str, Any]:
        """The winners on fresh files: a row for each operation. A winner that fails now leaves its place."""
        rows: dict[str, Any] = {}
        for operation in self.raw.rates:
            while operation not in rows:
                every = self._working(every)
                place = winners(self.rows(every)).get(operation)
                if place is None:
                    break
                self._say(f"once more: {every[place].case}")
                with self._setting_aside(every[place]):
                    rows[operation] = self._once_more(every[place])
        return rows

    def _once_more(self, one: Measured) -> dict[str, Any]:
        if one.case.operation == "read":
            one.bench.remove(one.bench.source(one.case))
        samples: list[Sample] = []
        for _ in range(AGAIN):
            if not samples or self.left() > one.cost:
                if one.case.operation == "read":
                    one.bench.source(one.case)
                samples.append(self._trial(one.bench, one.case)[0])
        return row_of(one.case, one.bench, samples, one.capped, self.raw)

    def rows(self, every: list[Measured]) -> list[dict[str, Any]]:
        """Of those that were not set aside."""
        return [row_of(o.case, o.bench, o.samples, o.capped, self.raw) for o in every if not o.failed]

    def close(self) -> None:
        """Let go of the communicator."""
        self._failing.Free()


def ranks_of(request: Request, size: int) -> Index3:
    """Ranks along x, y, z; InputError where they do not fit."""
    wanted = request.decomposition
    if request.grid[0] < SHORTEST or request.grid[2] < SHORTEST:
        told = ",".join(map(str, request.grid))
        raise InputError(f"--grid {told}: allowed: at least {SHORTEST} cells along x and z")
    if wanted is not None:
        told = ",".join(map(str, wanted))
        if math.prod(wanted) != size:
            raise InputError(f"--decomposition {told}: is for {math.prod(wanted)} ranks; found {size}")
        if any(p > n for p, n in zip(wanted, request.grid, strict=True)):
            raise InputError(f"--decomposition {told}: allowed: at most as many ranks as cells along each axis")
        return wanted
    return choose_ranks(request.grid, size, 1)


def run_io(
    request: Request, comm: MPI.Intracomm, binding: Binding, command: tuple[str, ...], say: Callable[[str], None]
) -> dict[str, Any]:
    """Collective. Measure; the record (on rank 0).

    Raises InputError and FathometerError, the same on all ranks: the request cannot be met, the folder cannot be used,
    the system refuses.
    """
    with collective_errors(comm):
        ranks = ranks_of(request, comm.size)
        chosen = choose(request.operations, request.strategies, request.formats, comm.size) if comm.rank == 0 else None
    cases, notes = comm.bcast(chosen)
    for note in notes:
        say(f"note: {note}")
    size = ITEM * math.prod(request.grid)
    own = math.prod(-(-n // p) for n, p in zip(request.grid, ranks, strict=True)) * ITEM
    wide = math.prod(min(n, -(-n // p) + 2 * request.halo) for n, p in zip(request.grid, ranks, strict=True)) * ITEM
    # What is read, what a format makes of it and, on rank 0, slabs of what others have.
    require_memory(
        {"block": own, "read back": 2 * wide, "raw": MOST_HELD},
        usable_memory(comm),
        comm,
        "use a smaller --grid or more hosts",
    )
    reads = {(case.format, case.strategy.filter, case.strategy.bits) for case in cases if case.operation == "read"}
    files = 2 + len(reads)
    place = scratch(request.folder, int(SPACE * files * (size + PIECE)), comm)
    with ledger.phase("between measurements"), place as folder:
        course = Course(request, comm, folder, say)
        every = course.measure(cases)
        again = course.again(every)
        course.close()
    with ledger.phase("finish"):
        told = allgather(comm, own_account(binding))
    if comm.rank:
        return {}
    rows = course.rows(every)
    best = {operation: rows[place] for operation, place in winners(rows).items()}
    wrong = [row for row in [*rows, *again.values()] if row["verified"] is False]
    return record(
        application="io",
        command=command,
        input=request.as_dict(),
        machine=machine([request.folder]) | {"ranks": comm.size, "binding": [rank["binding"] for rank in told]},
        account=account(told),
        figures=figures_of(rows, again, course.raw),
        results={
            "rows": rows,
            "failed": course.failed,
            "winners": best,
            "winners_again": again,
            "raw": course.raw.as_dict(),
            "decomposition": ranks,
            "logical_bytes": size,
            "notes": [*notes, *course.notes],
        },
        reasons=disturbances(told)
        + [f"{row['operation']} {row['format']} {row['strategy']}: {row['wrong_cells']} cells differ" for row in wrong],
    )
