"""`fathometer stencil`: rate of an application's time steps against the streaming limit of the memory.

The streaming limit is the bandwidth of the triad (McCalpin 1995) over the fewest bytes that a step must move for a cell
when each array is touched once. Time tiling may exceed it. Triad, plain sweeps and tiled sweeps alternate in one
process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from mpi4py import MPI

from fathometer import _native
from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words
from fathometer.base.ledger import timed
from fathometer.base.text_tables import TextColumn, aligned
from fathometer.grid.tiling import DEEPEST, PLAIN, Tuned
from fathometer.lab.statistics.interval import Estimate, interval
from fathometer.lab.stencil_options import StencilOptions
from fathometer.lab.turns import interleave
from fathometer.parallel.collectives import LONG_NAP_SECONDS, allgather, barrier
from fathometer.parallel.decomposition import choose_ranks
from fathometer.parallel.memory_budget import require_memory, usable_memory
from fathometer.parallel.threads import Binding, ThreadCounts
from fathometer.record.envelope import Figure, record
from fathometer.record.machine import machine
from fathometer.record.ranks import account, disturbances, largest_peak, own_account
from fathometer.runs.probes import Probes

TRIAD_ELEMENTS = 1 << 25  # of each array on all ranks together: 403 MB in three arrays, far more than caches hold
ITEM_BYTES = 4  # float32
COLUMNS = (
    TextColumn("ranks x threads", gap=0),
    TextColumn("10^9 cells/s", right=True, least=14),
    TextColumn("(95 % interval)", least=16, gap=2),
    TextColumn("triad GB/s", right=True, gap=2),
    TextColumn("limit", right=True, least=7),
    TextColumn("of limit", right=True, least=10),
    TextColumn("plain sweeps", right=True, least=14),
    TextColumn("of plain", right=True, least=10),
)
MULTIPLY_ADDS = 1_000_000  # rounds of a measurement: some milliseconds


@dataclass(frozen=True)
class Measured:
    """Rates of all ranks together: cells a second of tiled and of plain sweeps, bytes a second of the triad, flops a
    second of multiply-adds in registers."""

    ranks: int
    threads: int
    tuned: Tuned
    tiled: Estimate
    plain: Estimate
    triad: Estimate
    flops: Estimate
    bytes_per_point: int

    @property
    def limit(self) -> float:
        """Cells a second that a single sweep could reach."""
        return self.triad.median / self.bytes_per_point

    def as_dict(self) -> dict[str, Any]:
        """The same for a record."""
        return {
            "ranks": self.ranks,
            "threads": self.threads,
            "points_per_second": self.tiled.median,
            "points_per_second_interval": [self.tiled.low, self.tiled.high],
            "interval_coverage": self.tiled.coverage,
            "plain_sweeps_points_per_second": self.plain.median,
            "triad_bytes_per_second": self.triad.median,
            "multiply_add_flops_per_second": self.flops.median,
            "streaming_limit_points_per_second": self.limit,
            "ratio_to_streaming_limit": self.tiled.median / self.limit,
            "ratio_to_plain_sweeps": self.tiled.median / self.plain.median,
            "tuning": self.tuned.as_dict(),
        }


def measure(
    options: StencilOptions,
    probes: Probes,
    comm: MPI.Intracomm,
    threads: int,
    cpus: tuple[int, ...],
    say: Callable[[str], None],
) -> Measured:
    """Collective. Rates with all ranks of a communicator, `threads` threads each, on `cpus` where they are pinned."""
    team = ThreadCounts(threads, threads, threads, cpus)
    team.use(threads)
    cost = probes.step_cost(options.physics, options.order, options.grid, comm.size)
    ranks = choose_ranks(options.grid, comm.size, cost.halo_cells, slab=cost.slab)
    with ledger.phase("set up"):
        stepper = probes.stepper(options.physics, options.order, options.grid, ranks, team, comm)
        elements = TRIAD_ELEMENTS // comm.size
        arrays = [_native.zerosFloat32((1, 1, elements), n) for n in range(3)]
    with ledger.phase("tuning"):
        tuned = stepper.tune(options.depth, options.steps, say)
    updates = float(math.prod(options.grid)) * options.steps
    tasks: dict[str, Callable[[], object]] = {
        "triad": partial(_native.triad, *arrays),
        "flops": partial(_native.multiply_adds, MULTIPLY_ADDS),
        "plain": partial(stepper.advance, options.steps, PLAIN),
        "tiled": partial(stepper.advance, options.steps, tuned.tiling),
    }
    work = {
        "triad": 3.0 * ITEM_BYTES * elements * comm.size,
        "flops": comm.allreduce(_native.multiply_adds(MULTIPLY_ADDS), MPI.SUM),
        "plain": updates,
        "tiled": updates,
    }

    def slowest(task: Callable[[], object]) -> float:
        """Seconds of the slowest rank."""
        stepper.advance(1, PLAIN)  # the caches then hold the same before each task
        comm.Barrier()
        seconds: float = comm.allreduce(timed(task), MPI.MAX)
        return seconds

    with ledger.phase("measurement"):
        seconds = interleave(tasks, options.repeat, slowest)
    rates = {name: interval([work[name] / s for s in times]) for name, times in seconds.items()}
    stepper.close()
    return Measured(
        ranks=comm.size,
        threads=threads,
        tuned=tuned,
        tiled=rates["tiled"],
        plain=rates["plain"],
        triad=rates["triad"],
        flops=rates["flops"],
        bytes_per_point=cost.bytes_per_point,
    )


def run_stencil(
    options: StencilOptions,
    probes: Probes,
    comm: MPI.Intracomm,
    binding: Binding,
    command: tuple[str, ...],
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Collective. Measure with all threads and ranks, and with fewer where the options say so; the record (on rank 0).

    Raises InputError, the same on all ranks, for options that cannot be measured.
    """
    _check(options)
    cost = probes.step_cost(options.physics, options.order, options.grid, comm.size)
    triad_bytes = 3 * ITEM_BYTES * TRIAD_ELEMENTS // comm.size
    require_memory({**cost.memory_bytes, "triad": triad_bytes}, usable_memory(comm), comm)
    most: int = comm.allreduce(binding.threads, MPI.MIN)
    cpus = tuple(binding.cpus) if binding.pinned else ()
    combinations = [(comm.size, most)] + (list(_fewer(comm.size, most)) if options.scaling else [])
    measured = []
    for ranks, threads in combinations:
        part = MPI.Intracomm(comm.Split(0 if comm.rank < ranks else 1, comm.rank))
        if comm.rank < ranks:
            say(f"ranks x threads = {ranks} x {threads}: choosing the tiling, then measuring")
            measured.append(measure(options, probes, part, threads, cpus, say))
        barrier(comm, LONG_NAP_SECONDS)
        part.Free()
    with ledger.phase("finish"):
        accounts = allgather(comm, own_account(binding))
    if comm.rank:
        return {}
    main = measured[0]
    return record(
        application="stencil",
        command=command,
        input=asdict(options),
        machine=machine() | {"ranks": comm.size, "binding": [rank["binding"] for rank in accounts]},
        account=account(accounts),
        figures=[
            Figure("grid point updates", main.tiled.median, "points_per_second", "higher"),
            Figure("ratio to the streaming limit", main.tiled.median / main.limit, "1", "higher"),
            Figure("triad", main.triad.median, "bytes_per_second", "higher", "context"),
        ],
        results=main.as_dict()
        | {
            "bytes_per_point": main.bytes_per_point,
            "flops_per_point": cost.flops_per_point,
            "peak_memory_bytes": largest_peak(accounts),
            "scaling": [m.as_dict() for m in measured[1:]],
        },
        disturbed=disturbances(accounts),
    )


def _check(options: StencilOptions) -> None:
    smallest = 2 * options.order
    for axis, n in zip("xyz", options.grid, strict=True):
        if n < smallest and not (axis == "y" and n == 1):
            raise InputError(
                f"--grid: {n} cells along {axis}; allowed: {smallest} or more at order {options.order}, "
                "or 1 along y for two dimensions"
            )
    if options.depth > min(options.steps, DEEPEST):
        raise InputError(
            f"--time-depth {options.depth}: allowed: auto, or 1 to {min(options.steps, DEEPEST)} "
            f"(the number of --steps, and never more than {DEEPEST})"
        )


def _fewer(ranks: int, threads: int) -> Iterator[tuple[int, int]]:
    """Powers of two below the number of threads with all ranks, then below the number of ranks with all threads."""
    for fewer in _powers(threads):
        yield ranks, fewer
    for fewer in _powers(ranks):
        yield fewer, threads


def _powers(below: int) -> list[int]:
    return [1 << k for k in reversed(range(below.bit_length())) if 1 << k < below]


def table_lines(envelope: dict[str, Any]) -> list[str]:
    """The measurements of a record as a table for people."""
    results, options = envelope["results"], envelope["input"]
    grid = " x ".join(str(n) for n in options["grid"] if n > 1)
    text = [
        f"{options['physics']}, order {options['order']}, {grid} cells, float32: {results['flops_per_point']} flops "
        f"and at least {results['bytes_per_point']} bytes a cell and step; "
        f"at most {bytes_in_words(results['peak_memory_bytes'])} a rank",
        "",
    ]
    rows = []
    for m in [results, *results["scaling"]]:
        low, high = m["points_per_second_interval"]
        rows.append(
            [
                f"{m['ranks']:>5} x {m['threads']}",
                f"{m['points_per_second'] / 1e9:.3f}",
                f"({low / 1e9:.3f} to {high / 1e9:.3f})",
                f"{m['triad_bytes_per_second'] / 1e9:.1f}",
                f"{m['streaming_limit_points_per_second'] / 1e9:.3f}",
                f"{m['ratio_to_streaming_limit']:.2f}",
                f"{m['plain_sweeps_points_per_second'] / 1e9:.3f}",
                f"{m['ratio_to_plain_sweeps']:.2f}",
            ]
        )
    text += aligned(COLUMNS, rows)
    tuning = results["tuning"]
    text += [
        "",
        f"tuning: {tuning['depth']} time steps a sweep"
        + (
            f", tiles of {tuning['tile']} cells in blocks of {tuning['block']}, {tuning['team']} thread(s) a tile"
            if tuning["depth"] > 1
            else ""
        ),
    ]
    return text
