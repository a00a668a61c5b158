"""The storage benchmark: `fathometer io`.

Every case is run once on a small volume and once uncounted on its own, then in rounds of random order that alternate
with the device's own rate; then the winners, where there was a choice, are run again on fresh files. A time budget
bounds the whole.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.ledger import now
from fathometer.lab.io.cases import OPERATIONS, StorageCase, choose
from fathometer.lab.io.device import PATTERN_BYTES, PIECE_BYTES, Device
from fathometer.lab.io.folder import scratch_folder
from fathometer.lab.io.options import FEWEST_STEPS, Steps, StorageOptions
from fathometer.lab.io.pattern import Pattern
from fathometer.lab.io.ranking import Capped, DeviceRates, Failed, figures_of, filters_that_pay, leading, row_of, way_of
from fathometer.lab.io.steps import CHUNK_BYTES, ITEM_BYTES, StepsBench, with_buffers
from fathometer.lab.io.suites import cases_of, check_suite, figures_of_suite, rows_of
from fathometer.lab.io.trial import MOST_RESIDENT, Bench, Sample, least_seconds
from fathometer.lab.statistics.differences import rounds_needed
from fathometer.parallel.collectives import LONG_NAP_SECONDS, all_arrived, allgather, collective_errors
from fathometer.parallel.decomposition import Index3, choose_ranks
from fathometer.parallel.memory_budget import require_memory, usable_memory
from fathometer.parallel.threads import Binding
from fathometer.record.envelope import record
from fathometer.record.machine import machine
from fathometer.record.ranks import account, disturbances, own_account
from fathometer.storage import atomic

PROBE_BYTES = 1 << 23  # of the small volume; a volume that is not larger needs none
PROBE_LIST_BYTES = 1 << 20  # the same where MPI-IO gets a list of elements
LIST_BYTES = 1 << 24  # of a volume whose elements are listed one by one: some 160 B of memory for each of 4 Mi elements
FEWEST_CELLS = 2  # of an axis: files do not keep shorter ones
MOST_OF_BUDGET = 1 / 8  # for one trial: a case that would take longer gets a smaller volume
WINNER_REPEATS = rounds_needed(1)  # of a winner on fresh files: the fewest with an interval
DEVICE_REPEATS = 3  # of the device's own rate in the first round
RESERVED_SHARE = 0.08  # of the budget, for what comes after the measurements
SPACE_FACTOR = 1.05  # headers of files and folders


@dataclass
class Measurement:
    """Samples of one case, and the numbers of their rounds.

    cost: seconds of a trial with all that it needs, as far as it is known. failed: why the case was excluded.
    """

    case: StorageCase
    bench: Bench
    capped: Capped | None = None
    cost: float = 0.0
    failed: str = ""
    samples: list[Sample] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)


class Benchmark:
    """The state of the benchmark on one rank; all methods are collective."""

    def __init__(self, options: StorageOptions, comm: MPI.Intracomm, folder: Path, say: Callable[[str], None]) -> None:
        host = comm.Split_type(MPI.COMM_TYPE_SHARED)
        self._apart = host.size if host.size < comm.size else 1
        host.Free()
        self._options, self._comm, self._folder, self._say = options, comm, folder, say
        here = ledger.current()
        self._begin = here.start if here is not None else now()
        self.notes: list[str] = []
        self.failed: list[Failed] = []
        self._failing = comm.Dup()  # on which failing ranks meet, while the others may be in any call
        self.full = self._bench(options.grid, options.steps)
        self.device_rates = DeviceRates({name: {True: [], False: []} for name in options.operations})
        with collective_errors(comm):
            self._device = Device(folder, self.full.bytes, self.full.block) if comm.rank == 0 else None

    def _bench(self, grid: Index3, steps: Steps | None, slabs: bool = False) -> Bench:
        shape = grid if grid[1] > 1 else (grid[0], grid[2])
        ranks = ranks_of(self._options, self._comm.size)
        if slabs:
            ranks = self._comm.size, 1, 1
        pattern = Pattern(shape, self._options.seed, self._options.data)
        common = (self._folder, self._comm, pattern, ranks, self._options.halo, self._apart)
        return Bench(*common) if steps is None else StepsBench(*common, steps=steps)

    @cached_property
    def _slabs(self) -> Bench:
        """The whole volume, of which each rank has a contiguous piece; its block is made once for all ways."""
        return self._bench(self._options.grid, self._options.steps, slabs=True)

    def _smaller(self, size: float) -> tuple[Index3, Steps | None]:
        """The grid, cut along x and then y so that it has about `size` bytes, no rank is without a cell, and no axis
        is lost; steps are cut before."""
        grid, ranks, steps = list(self._options.grid), ranks_of(self._options, self._comm.size), self._options.steps
        if steps is not None:
            step_bytes = ITEM_BYTES * math.prod(grid) * steps.files
            steps = replace(steps, steps=min(steps.steps, max(FEWEST_STEPS, round(size / step_bytes))))
            size /= steps.files * steps.steps
        for axis in range(3):
            share = size / (ITEM_BYTES * math.prod(grid))
            if share < 1:
                grid[axis] = max(ranks[axis], min(FEWEST_CELLS, grid[axis]), round(grid[axis] * share))
        return (grid[0], grid[1], grid[2]), steps

    def seconds_left(self) -> float:
        """Seconds of the budget, the same on all ranks."""
        reserve = RESERVED_SHARE * self._options.budget
        return float(self._comm.bcast(self._options.budget - reserve - (now() - self._begin)))

    def _trial(self, bench: Bench, case: StorageCase) -> tuple[Sample, float]:
        """A trial and the seconds that it took with all that it needs."""
        begin = now()
        sample = bench.write(case) if case.operation == "write" else bench.read(case)
        return sample, float(self._comm.bcast(now() - begin))

    @contextmanager
    def _excluding_failure(self, measurement: Measurement) -> Iterator[None]:
        """An error of all ranks excludes the case; an error of some ranks only is raised, and ends all."""
        try:
            yield
        except FathometerError as error:
            if not all_arrived(self._failing):
                raise
            measurement.failed = str(error).replace(f"{self._folder}/", "")
            case = measurement.case
            self.failed.append(Failed(case.operation, str(case.strategy), case.format, measurement.failed, case.buffer))
            self._say(f"failed: {self.failed[-1]}")
            measurement.bench.remove_written()

    def _not_failed(self, measurements: list[Measurement]) -> list[Measurement]:
        """Those without an error; FathometerError where nothing is left to rank."""
        kept = [measurement for measurement in measurements if not measurement.failed]
        if not kept:
            raise FathometerError(self.failed[0].why)
        return kept

    def measure(self, cases: list[StorageCase]) -> list[Measurement]:
        """All cases, with as many repetitions as the budget allows."""
        measurements = self._not_failed([self._choose_size(case) for case in cases])
        measurements = self._affordable(self._not_failed(self._warm_up(measurements)))
        rounds = 0
        while rounds < self._options.repeat:
            needed = self._winners_seconds(measurements) + self._round_seconds(measurements)
            if rounds and self.seconds_left() <= needed:
                break
            rounds += 1
            self._say(f"round {rounds} of {self._options.repeat}, {max(0.0, self.seconds_left()):.0f} s left")
            self._take_round(measurements, rounds)
            measurements = self._not_failed(measurements)
        if rounds < self._options.repeat:
            self.notes.append(
                f"the budget of {self._options.budget:g} s allowed {rounds} of {self._options.repeat} repetitions"
            )
            self._say(self.notes[-1])
        self._note_short(measurements)
        return measurements

    def _note_short(self, measurements: list[Measurement]) -> None:
        """Tell of samples that are too short against the clock. A volume that grows would be another one."""
        least = float(self._comm.bcast(least_seconds()))
        short = [entry.case for entry in measurements if any(sample.seconds < least for sample in entry.samples)]
        if short:
            self.notes.append(
                f"samples of {len(short)} case{'s'[: len(short) - 1]} are shorter than {1e6 * least:.0f} µs, too short "
                f"against the clock, such as: {short[0]}; allowed: a larger --grid"
            )
            self._say(self.notes[-1])

    def _take_round(self, measurements: list[Measurement], number: int) -> None:
        """Each case once and the device in between, in random order."""
        turns: list[Measurement | tuple[str, bool]] = list(measurements)
        for operation in self.device_rates.rates:
            # A single value would be a poor reference, however short the time.
            turns += [(operation, direct) for direct in (False, True)] * (DEVICE_REPEATS if number == 1 else 1)
        random.Random(f"{self._options.seed} {number}").shuffle(turns)
        for turn in turns:
            if isinstance(turn, tuple):
                self._device_rate(*turn)
            elif not turn.samples or self.seconds_left() > turn.cost:
                with self._excluding_failure(turn):
                    sample, seconds = self._trial(turn.bench, turn.case)
                    turn.samples.append(sample)
                    turn.rounds.append(number)
                    turn.cost += (seconds - turn.cost) / (len(turn.samples) + 1)  # the mean, the warm-up's included

    def _round_seconds(self, measurements: list[Measurement]) -> float:
        """Seconds of a round."""
        return sum(measurement.cost for measurement in measurements) + self.device_rates.seconds

    def _winners_seconds(self, measurements: list[Measurement]) -> float:
        """Seconds of the winners on fresh files, at most."""
        costs = {name: [entry.cost for entry in measurements if entry.case.operation == name] for name in OPERATIONS}
        return sum(max(some) for name, some in costs.items() if some and not self._alone(name, measurements))

    def _alone(self, operation: str, measurements: list[Measurement]) -> bool:
        """Whether a case had no other beside it, which may have failed."""
        known = [entry.case.operation for entry in measurements] + [case.operation for case in self.failed]
        return known.count(operation) == 1

    def _choose_size(self, case: StorageCase) -> Measurement:
        """A case with the largest volume that memory and time allow, from a trial on a small one."""
        measurement = Measurement(case, self._slabs if case.slabs else self.full)
        small = PROBE_LIST_BYTES if case.listed else PROBE_BYTES
        if self.full.bytes <= small:
            return measurement
        probe = self._bench(*self._smaller(small), case.slabs)
        longest = MOST_OF_BUDGET * self._options.budget
        with self._excluding_failure(measurement):
            for _ in range(2):  # the first may load libraries
                measurement.cost = self._trial(probe, case)[1] * self.full.bytes / probe.bytes
                if measurement.cost <= longest:
                    break
        if measurement.failed:
            return measurement
        size = float(self.full.bytes)
        listed = self.full.listed_bytes
        if case.listed and listed > LIST_BYTES * self._comm.size:
            size *= LIST_BYTES * self._comm.size / listed
            why = "a list of single elements takes some 160 B of memory for each"
        if measurement.cost * size / self.full.bytes > longest:
            size = longest / measurement.cost * self.full.bytes
            why = f"the whole would take some {measurement.cost:.0f} s"
        if size < self.full.bytes:
            grid, steps = self._smaller(size)
            measurement.bench = self._bench(grid, steps, case.slabs)
            measurement.cost *= measurement.bench.bytes / self.full.bytes
            measurement.capped = Capped(grid if steps is None else (steps.steps, *grid), why)
            self._say(f"{case}: on {' x '.join(map(str, measurement.capped.grid))} cells only: {why}")
        return measurement

    def _warm_up(self, measurements: list[Measurement]) -> list[Measurement]:
        """Each case once, uncounted; those for which no time is left are noted."""
        kept: list[Measurement] = []
        for operation in self.device_rates.rates:
            for direct in (False, True):
                self._device_rate(operation, direct, count=False)
        with collective_errors(self._comm), atomic.writing(self._folder):
            if self._device is not None and self._device.drop_cache() > MOST_RESIDENT:
                self.notes.append(f"{self._options.folder}: files there stay in memory; no rate is one of a device")
                self._say(self.notes[-1])
        for measurement in measurements:
            # Of each operation one case is measured, however short the time.
            another = any(entry.case.operation == measurement.case.operation for entry in kept)
            if another and self.seconds_left() < 2 * measurement.cost:
                self._leave_out(measurement)
                continue
            self._say(f"warm-up: {measurement.case}")
            with self._excluding_failure(measurement):
                # The first trial also writes what is read: its cost would be too high for the next one.
                if measurement.case.operation == "read":
                    measurement.bench.source(measurement.case)
                _, measurement.cost = self._trial(measurement.bench, measurement.case)
                kept.append(measurement)
        return kept

    def _affordable(self, measurements: list[Measurement]) -> list[Measurement]:
        """The cases that can be measured once in the time left: the slowest are left out first, one of each operation
        stays."""
        kept = list(measurements)
        more_device_rates = (DEVICE_REPEATS - 1) * self.device_rates.seconds
        while len(kept) > len(self.device_rates.rates):
            needed = self._round_seconds(kept) + more_device_rates + self._winners_seconds(kept)
            if self.seconds_left() >= needed:
                break
            operations = [entry.case.operation for entry in kept]
            several = [entry for entry in kept if operations.count(entry.case.operation) > 1]
            slowest = max(several, key=lambda entry: entry.cost)
            kept.remove(slowest)
            self._leave_out(slowest)
        return kept

    def _leave_out(self, measurement: Measurement) -> None:
        cost = f", some {measurement.cost:.2g} s a trial" if measurement.cost else ""
        self.notes.append(f"left out, for want of time: {measurement.case}{cost}")
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
                        self._device.drop_cache()
                seconds = self._device.write(direct) if operation == "write" else self._device.read(direct)
        seconds = self._comm.bcast(seconds)
        size = self._comm.bcast(self._device.size if self._device is not None else 0)
        if seconds is None:
            return
        if count:
            self.device_rates.rates[operation][direct].append(size / seconds)
        else:
            self.device_rates.seconds += seconds

    def winners_again(self, measurements: list[Measurement]) -> dict[str, Any]:
        """The winners on fresh files, of several that are as good the one with the best median: a row for each
        operation. A winner that fails now leaves its place; a case that had no other beside it was not chosen by luck,
        and is not measured again."""
        rows: dict[str, Any] = {}
        for operation in self.device_rates.rates:
            alone = self._alone(operation, measurements)
            while operation not in rows:
                measurements = self._not_failed(measurements)
                best = leading(self.rows(measurements), self._options.seed).get(operation)
                if best is None:
                    break
                winner = measurements[best.places[0]]
                if alone:
                    rows[operation] = self.rows([winner])[0]
                    break
                self._say(f"once more: {winner.case}")
                with self._excluding_failure(winner):
                    rows[operation] = self._measure_winner(winner)
        return rows

    def _measure_winner(self, measurement: Measurement) -> dict[str, Any]:
        if measurement.case.operation == "read":
            measurement.bench.remove(measurement.bench.source(measurement.case))
        samples: list[Sample] = []
        for _ in range(WINNER_REPEATS):
            if not samples or self.seconds_left() > measurement.cost:
                if measurement.case.operation == "read":
                    measurement.bench.source(measurement.case)
                samples.append(self._trial(measurement.bench, measurement.case)[0])
        return row_of(measurement.case, measurement.bench, samples, measurement.capped, self.device_rates)

    def rows(self, measurements: list[Measurement]) -> list[dict[str, Any]]:
        """The results of those without an error."""
        return [
            row_of(entry.case, entry.bench, entry.samples, entry.capped, self.device_rates) | {"rounds": entry.rounds}
            for entry in measurements
            if not entry.failed
        ]

    def close(self) -> None:
        """Free the communicator."""
        self._failing.Free()


def ranks_of(options: StorageOptions, size: int) -> Index3:
    """Ranks along x, y, z; InputError where they do not fit."""
    wanted = options.decomposition
    if options.grid[0] < FEWEST_CELLS or options.grid[2] < FEWEST_CELLS:
        cells = ",".join(map(str, options.grid))
        raise InputError(f"--grid {cells}: allowed: at least {FEWEST_CELLS} cells along x and z")
    if wanted is not None:
        given = ",".join(map(str, wanted))
        if math.prod(wanted) != size:
            raise InputError(f"--decomposition {given}: is for {math.prod(wanted)} ranks; found {size}")
        if any(p > n for p, n in zip(wanted, options.grid, strict=True)):
            raise InputError(f"--decomposition {given}: allowed: at most as many ranks as cells along each axis")
        return wanted
    return choose_ranks(options.grid, size, 1)


def _chosen(options: StorageOptions, ranks: int) -> tuple[list[StorageCase], list[str]]:
    """What is measured, and notes on what this machine has not got. Raises InputError as `choose`."""
    if options.suite is None:
        return choose(options.operations, options.strategies, options.formats, ranks)
    if options.strategies or options.formats != ("rsf",) or options.steps is not None:
        raise InputError(f"--suite {options.suite}: found with --strategy, --format or --pattern; allowed: alone")
    check_suite(options.suite, options.grid, ranks)
    return cases_of(options.suite, ranks)


def run_io(
    options: StorageOptions, comm: MPI.Intracomm, binding: Binding, command: tuple[str, ...], say: Callable[[str], None]
) -> dict[str, Any]:
    """Collective. Measure; the record (on rank 0).

    Raises InputError and FathometerError, the same on all ranks: the options cannot be measured, the folder cannot be
    used, the system refuses.
    """
    with collective_errors(comm):
        ranks = ranks_of(options, comm.size)
        chosen = _chosen(options, comm.size) if comm.rank == 0 else None
        if chosen is not None and options.steps is not None:
            options.steps.check()
            chosen = with_buffers(chosen[0], options.steps), chosen[1]
    cases, notes = comm.bcast(chosen)
    for note in notes:
        say(f"note: {note}")
    of_step = ITEM_BYTES * math.prod(options.grid)
    size = of_step if options.steps is None else of_step * options.steps.steps * options.steps.files
    block_bytes = math.prod(-(-n // p) for n, p in zip(options.grid, ranks, strict=True)) * ITEM_BYTES
    with_halo = (min(n, -(-n // p) + 2 * options.halo) for n, p in zip(options.grid, ranks, strict=True))
    read_bytes = math.prod(with_halo) * ITEM_BYTES
    lossy = any(case.lossy for case in cases)  # compared in float64
    # What is read, its copy in the order of the format and, on rank 0, slabs of other ranks.
    require_memory(
        {
            "block": block_bytes * (2 if any(case.slabs for case in cases) else 1),
            **({} if options.steps is None else options.steps.memory(block_bytes // ITEM_BYTES)),
            "read back": 2 * read_bytes if options.steps is None else (7 if lossy else 3) * CHUNK_BYTES,
            "raw": PATTERN_BYTES,
        },
        usable_memory(comm),
        comm,
        "use a smaller --grid or more hosts",
    )
    reads = {(case.format, case.strategy.filter, case.strategy.bits) for case in cases if case.operation == "read"}
    files = 2 + len(reads)
    scratch = scratch_folder(options.folder, int(SPACE_FACTOR * files * (size + PIECE_BYTES)), comm)
    with ledger.phase("between measurements"), scratch as folder:
        benchmark = Benchmark(options, comm, folder, say)
        measurements = benchmark.measure(cases)
        winners_again = benchmark.winners_again(measurements)
        benchmark.close()
    with ledger.phase("finish"):
        accounts = allgather(comm, own_account(binding))
    if comm.rank:
        return {}
    rows = benchmark.rows(measurements)
    best = leading(rows, options.seed)
    wrong = [row for row in [*rows, *winners_again.values()] if row["verified"] is False]
    of_suite = [] if options.suite is None else rows_of(options.suite, rows)
    return record(
        application="io",
        command=command,
        input=options.as_dict(),
        machine=machine([options.folder]) | {"ranks": comm.size, "binding": [rank["binding"] for rank in accounts]},
        account=account(accounts),
        figures=figures_of(rows, winners_again, benchmark.device_rates) + figures_of_suite(of_suite),
        results={
            "rows": rows,
            "failed": benchmark.failed,
            "winners": {name: rows[one.winner] for name, one in best.items() if one.winner is not None},
            "as_good": {name: one.as_dict(rows) for name, one in best.items()},
            "winners_again": winners_again,
            "filters": filters_that_pay(rows, options.seed),
            "suite": None if options.suite is None else {"name": options.suite, "rows": of_suite},
            "raw": benchmark.device_rates.as_dict(),
            "decomposition": ranks,
            "logical_bytes": size,
            "notes": [*notes, *benchmark.notes],
        },
        reasons=[
            f"{row['operation']} {row['format']} {way_of(row)}: {row['wrong_cells']} cells differ" for row in wrong
        ],
        disturbed=disturbances(accounts),
    )
