"""`fathometer stencil`: the rate of the propagator against what the memory would let a single sweep do.

The yardstick is the triad (McCalpin 1995): its bandwidth over the fewest bytes that a step must move for a cell, each
array touched once. Time tiling may go past that limit. Triad, plain sweeps and tiled sweeps take turns in one process.
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
from fathometer.config.sections import TuningTable
from fathometer.grid.stencil import FEWEST_ARRAYS, flops_per_point
from fathometer.grid.tiling import DEEPEST, PLAIN, Tiling
from fathometer.grid.tuning import Tuned, tune
from fathometer.lab.statistics import Typical, interleave, timed, typical
from fathometer.parallel.collectives import LONG_NAP_SECONDS, allgather, barrier
from fathometer.parallel.decomposition import Index3, choose_ranks
from fathometer.parallel.memory_budget import require_memory, usable_memory
from fathometer.parallel.threads import Binding, Tasks
from fathometer.record.envelope import Figure, record
from fathometer.record.machine import machine
from fathometer.record.ranks import account, disturbances, own_account
from fathometer.seismic.waves.homogeneous import ISOTROPIC, VTI, Homogeneous, NoBoundary
from fathometer.seismic.waves.points import halo_depth

TRIAD_ELEMENTS = 1 << 25  # of each array on all ranks together: 403 MB in three arrays, far more than caches hold
ITEM = 4  # float32
MULTIPLY_ADDS = 1_000_000  # rounds of a measurement: some milliseconds
WORTH_A_SEARCH = 10**9  # steps: a benchmark wants the best there is, found now or earlier
MATERIALS = {"vti": VTI, "isotropic": ISOTROPIC}


@dataclass(frozen=True)
class Request:
    """What to measure: cells (x, y, z), ny = 1 for two dimensions; steps of one measurement; depth 0: auto."""

    grid: Index3
    order: int
    physics: str
    steps: int
    depth: int
    repeat: int
    scaling: bool


@dataclass(frozen=True)
class Measured:
    """Rates with some ranks and threads each: cells a second tiled and plain, bytes a second of the triad, flops a
    second of multiply-adds in registers."""

    ranks: int
    threads: int
    tuned: Tuned
    tiled: Typical
    plain: Typical
    triad: Typical
    flops: Typical
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
    request: Request, comm: MPI.Intracomm, threads: int, cpus: tuple[int, ...], say: Callable[[str], None]
) -> Measured:
    """Collective. Rates with all ranks of a communicator, `threads` threads each, on `cpus` where they are pinned."""
    team = Tasks(threads, threads, threads, cpus)
    team.use(threads)
    ranks = choose_ranks(request.grid, comm.size, halo_depth(request.order // 2, False))
    with ledger.phase("set up"):
        wave = Homogeneous(
            request.grid, MATERIALS[request.physics], NoBoundary(), request.order, ranks=ranks, comm=comm
        ).propagator
        wave.threads = team
        elements = TRIAD_ELEMENTS // comm.size
        arrays = [_native.zerosFloat32((1, 1, elements), n) for n in range(3)]
    wanted = TuningTable() if request.depth == 0 else TuningTable(time_depth=request.depth)
    with ledger.phase("tuning"):
        tuned = tune(wave, wanted, request.steps, WORTH_A_SEARCH, threads, say)
    cells = float(math.prod(request.grid)) * request.steps

    def advance(tiling: Tiling) -> None:
        wave.tiling = tiling
        wave.advance(request.steps)

    tasks: dict[str, Callable[[], object]] = {
        "triad": partial(_native.triad, *arrays),
        "flops": partial(_native.multiply_adds, MULTIPLY_ADDS),
        "plain": partial(advance, PLAIN),
        "tiled": partial(advance, tuned.tiling),
    }
    done = {
        "triad": 3.0 * ITEM * elements * comm.size,
        "flops": comm.allreduce(_native.multiply_adds(MULTIPLY_ADDS), MPI.SUM),
        "plain": cells,
        "tiled": cells,
    }

    def slowest(task: Callable[[], object]) -> float:
        wave.advance(1)  # what the task before has left in the cache is not to matter
        comm.Barrier()
        seconds: float = comm.allreduce(timed(task), MPI.MAX)
        return seconds

    with ledger.phase("measurement"):
        seconds = interleave(tasks, request.repeat, slowest)
    rates = {name: typical([done[name] / s for s in times]) for name, times in seconds.items()}
    wave.close()
    return Measured(
        comm.size,
        threads,
        tuned,
        rates["tiled"],
        rates["plain"],
        rates["triad"],
        rates["flops"],
        ITEM * FEWEST_ARRAYS[request.physics],
    )


def run_stencil(
    request: Request, comm: MPI.Intracomm, binding: Binding, command: tuple[str, ...], say: Callable[[str], None]
) -> dict[str, Any]:
    """Collective. Measure, with all threads and ranks, and by request with fewer; the record (on rank 0).

    Raises InputError, the same on all ranks, for a request that cannot be met.
    """
    _check(request)
    require_memory(_bytes(request, comm.size), usable_memory(comm), comm)
    most: int = comm.allreduce(binding.threads, MPI.MIN)
    cpus = tuple(binding.cpus) if binding.pinned else ()
    every = [(comm.size, most)] + (list(_fewer(comm.size, most)) if request.scaling else [])
    measured = []
    for ranks, threads in every:
        part = MPI.Intracomm(comm.Split(0 if comm.rank < ranks else 1, comm.rank))
        if comm.rank < ranks:
            say(f"ranks x threads = {ranks} x {threads}: choosing the tiling, then measuring")
            measured.append(measure(request, part, threads, cpus, say))
        barrier(comm, LONG_NAP_SECONDS)
        part.Free()
    with ledger.phase("finish"):
        told = allgather(comm, own_account(binding))
    if comm.rank:
        return {}
    main = measured[0]
    flat = request.grid[1] == 1
    return record(
        application="stencil",
        command=command,
        input=asdict(request),
        machine=machine() | {"ranks": comm.size, "binding": [rank["binding"] for rank in told]},
        account=account(told),
        figures=[
            Figure("grid point updates", main.tiled.median, "points_per_second", "higher"),
            Figure("ratio to the streaming limit", main.tiled.median / main.limit, "1", "higher"),
            Figure("triad", main.triad.median, "bytes_per_second", "higher", "context"),
        ],
        results=main.as_dict()
        | {
            "bytes_per_point": main.bytes_per_point,
            "flops_per_point": flops_per_point(request.order, 2 if request.physics == "vti" else 1, flat),
            "peak_memory_bytes": max(rank["usage"]["peak_memory_bytes"] for rank in told),
            "scaling": [m.as_dict() for m in measured[1:]],
        },
        reasons=disturbances(told),
    )


def _check(request: Request) -> None:
    smallest = 2 * request.order
    for axis, n in zip("xyz", request.grid, strict=True):
        if n < smallest and not (axis == "y" and n == 1):
            raise InputError(
                f"--grid: {n} cells along {axis}; allowed: {smallest} or more at order {request.order}, "
                "or 1 along y for two dimensions"
            )
    if request.depth > min(request.steps, DEEPEST):
        raise InputError(
            f"--time-depth {request.depth}: allowed: auto, or 1 to {min(request.steps, DEEPEST)} "
            f"(the number of --steps, and never more than {DEEPEST})"
        )


def _bytes(request: Request, ranks: int) -> dict[str, int]:
    """What a rank takes: the wavefields, the model and what it is made of, the triad's arrays."""
    x, y, z = (n + (1 if n == 1 else 2 * request.order) for n in request.grid)
    fields, models = (2, 3) if request.physics == "vti" else (1, 1)
    return {
        "wavefields": ITEM * 2 * fields * x * y * z // ranks,
        "model": ITEM * 2 * models * x * y * z // ranks,
        "triad": ITEM * 3 * TRIAD_ELEMENTS // ranks,
    }


def _fewer(ranks: int, threads: int) -> Iterator[tuple[int, int]]:
    """Powers of two below the numbers of ranks and of threads, the other one kept; ranks end with one."""
    for fewer in _powers(threads):
        yield ranks, fewer
    for fewer in _powers(ranks):
        yield fewer, threads


def _powers(below: int) -> list[int]:
    return [1 << k for k in reversed(range(below.bit_length())) if 1 << k < below]


def lines(envelope: dict[str, Any]) -> list[str]:
    """The measurements as a table for people."""
    results, request = envelope["results"], envelope["input"]
    grid = " x ".join(str(n) for n in request["grid"] if n > 1)
    text = [
        f"{request['physics']}, order {request['order']}, {grid} cells, float32: {results['flops_per_point']} flops "
        f"and at least {results['bytes_per_point']} bytes a cell and step; "
        f"at most {results['peak_memory_bytes'] / 1e9:.2g} GB a rank",
        "",
        "ranks x threads   10^9 cells/s  (95 % interval)   triad GB/s   limit   of limit   plain sweeps   of plain",
    ]
    for m in [results, *results["scaling"]]:
        low, high = m["points_per_second_interval"]
        text.append(
            f"{m['ranks']:>5} x {m['threads']:<7} {m['points_per_second'] / 1e9:>14.3f}  ({low / 1e9:.3f} to "
            f"{high / 1e9:.3f})  {m['triad_bytes_per_second'] / 1e9:>10.1f} "
            f"{m['streaming_limit_points_per_second'] / 1e9:>7.3f} {m['ratio_to_streaming_limit']:>10.2f} "
            f"{m['plain_sweeps_points_per_second'] / 1e9:>14.3f} {m['ratio_to_plain_sweeps']:>10.2f}"
        )
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
