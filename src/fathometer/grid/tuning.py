"""Which tiling a run uses: the survey's, what a search found, now or earlier, or what a model of the caches suggests.

The search takes real steps of the real wavefield while it is quiet, and so measures the machine, the layers and the
exchanges between ranks as they are. What it finds is kept in the user's cache folder.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from mpi4py import MPI

from fathometer import __version__, _native
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.host import Caches, caches, cpu_model
from fathometer.base.ledger import Ledger, now
from fathometer.config.sections import TuningTable
from fathometer.grid.tiling import DEEPEST, PLAIN, Stepping, Tiling
from fathometer.parallel.collectives import barrier
from fathometer.parallel.decomposition import Decomposition
from fathometer.storage import atomic
from fathometer.storage.folder import cache_folder
from fathometer.storage.json_text import json_values

SCHEMA = 1
SHORTEST_SECONDS = 0.02  # a measurement; less is the clock's and the neighbours' noise
LEAST_UPDATES = 4e9  # cell updates of a run that are worth a search: some seconds
FINALISTS, ROUNDS = 5, 5
AS_GOOD_AS = 1.05  # times the least time: within what repeats differ by
KEYS = {"depth": "time_depth", "block": "block", "tile": "tile", "team": "team"}  # in the survey's [tuning]


class TimeStepper(Protocol):
    """Fields on a grid that are stepped in time, as tuning sees them.

    Attributes:
        tiling: how steps are grouped into sweeps.
    """

    tiling: Tiling

    @property
    def comm(self) -> MPI.Intracomm:
        """The ranks that share the grid."""

    @property
    def block(self) -> Decomposition:
        """This rank's block of the grid."""

    @property
    def radius(self) -> int:
        """Cells that the stencil reaches."""

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""

    @property
    def field_count(self) -> int:
        """Fields that are stepped."""

    @property
    def array_count(self) -> int:
        """Arrays of a step: time levels of the fields, and the model."""

    def advance(self, steps: int) -> None:
        """Collective. Take `steps` time steps."""

    def reset(self) -> None:
        """Back to rest."""


@dataclass(frozen=True)
class Tuned:
    """A choice and where it comes from.

    Attributes:
        source: "survey", "cache", "search" or "model".
        gain: rate over that of plain sweeps, both measured in the search; None without one.
    """

    tiling: Tiling
    source: str
    gain: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The same for a record."""
        return asdict(self.tiling) | {"source": self.source, "gain_over_plain_sweeps": self.gain}

    def __str__(self) -> str:
        sources = {
            "survey": "as the survey says",
            "cache": "found by an earlier search",
            "search": "found by a search",
            "model": "from the sizes of the caches",
        }
        gain = "" if self.gain is None else f", {self.gain:.2f} times as fast as plain sweeps"
        return f"{self.tiling} ({sources[self.source]}{gain})"


def stepping_of(wavefield: TimeStepper, steps: int, threads: int) -> Stepping:
    """Collective. What the tiling of a wavefield's steps depends on; its cells and threads are those of the
    smallest rank: all ranks must come to the same choice, and try the same ones."""
    comm, block = wavefield.comm, wavefield.block
    barrier(comm)
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    ranks = comm.allreduce(host.size, MPI.MAX)
    host.Free()
    x, y, z, fewest = (comm.allreduce(n, MPI.MIN) for n in (*block.local_shape, threads))
    return Stepping(
        (x, y, z),
        wavefield.radius,
        wavefield.field_count,
        wavefield.itemsize,
        steps,
        fewest,
        ranks,
        wavefield.array_count,
    )


def tune(
    wavefield: TimeStepper,
    wanted: TuningTable,
    steps: int,
    total: int,
    threads: int,
    say: Callable[[str], None],
    folder: Path | None = None,
) -> Tuned:
    """Collective. Choose the tiling of a quiet wavefield and set it there.

    Args:
        steps: time steps that are taken at a time, total: of the run.
        say: prints a line for people, where there is one to say.
        folder: of the cache (tests); None: the user's.

    Raises InputError, the same on all ranks, for a choice of the survey that does not fit.
    """
    stepping = stepping_of(wavefield, steps, threads)
    comm = wavefield.comm
    here: Caches = comm.bcast(caches())
    fixed = {choice: value for choice, key in KEYS.items() if isinstance(value := getattr(wanted, key), int)}
    check_choices(stepping, fixed)
    tuned = None
    if len(fixed) == 4:
        tuned = Tuned(Tiling(**fixed), "survey")
    elif wanted.search != "always" and not fixed:
        tuned = comm.bcast(recall(stepping, say, folder) if comm.rank == 0 else None)
    updates = float(comm.allreduce(math.prod(wavefield.block.local_shape), MPI.SUM)) * total
    if tuned is None and (wanted.search == "always" or (wanted.search == "auto" and updates >= LEAST_UPDATES)):
        with Ledger():  # its steps and exchanges are no part of the run's: the phase around keeps their seconds
            tuned = search(wavefield, stepping, [with_choices(stepping, t, fixed) for t in candidates(stepping, here)])
        if not fixed and comm.rank == 0:
            remember(stepping, tuned, say, folder)
    if tuned is None:
        tuned = Tuned(with_choices(stepping, stepping.expected(here), fixed), "survey" if fixed else "model")
    wavefield.tiling = tuned.tiling
    return tuned


def check_choices(stepping: Stepping, fixed: dict[str, int]) -> None:
    """Raises InputError for a choice out of range."""
    for name, value in fixed.items():
        low, high = stepping.ranges[name]
        if not low <= value <= high:
            raise InputError(
                f"[tuning] {KEYS[name]}: found {value}; allowed: {low} to {high} ({_reason(name, stepping)})"
            )
    team = fixed.get("team", 1)
    if stepping.threads % team:
        divisors = [str(n) for n in range(1, stepping.threads + 1) if stepping.threads % n == 0]
        raise InputError(
            f"[tuning] team: found {team}; allowed: {', '.join(divisors)}, since a rank has {stepping.threads} threads"
        )


def _reason(name: str, stepping: Stepping) -> str:
    cells = " x ".join(str(n) for n in stepping.shape)
    return {
        "depth": f"{stepping.steps} time steps are taken at a time here; never more than {DEEPEST}",
        "block": f"the smallest rank has {cells} cells",
        "tile": f"the smallest rank has {cells} cells",
        "team": "threads of a rank",
    }[name]


def with_choices(stepping: Stepping, tiling: Tiling, fixed: dict[str, int]) -> Tiling:
    """A tiling with some of its numbers as the survey wants them."""
    if not fixed:
        return tiling
    if (
        tiling.depth == 1 and fixed.get("depth", 2) > 1 and stepping.steps > 1
    ):  # a plain sweep has no shape that could be changed
        tiling = Tiling(
            min(4, stepping.steps), min(stepping.radius, stepping.shape[0]), min(32, stepping.ranges["tile"][1]), 1
        )
    return Tiling(**(asdict(tiling) | fixed))


def candidates(stepping: Stepping, here: Caches) -> list[Tiling]:
    """What a search tries: plain sweeps, what the model of the caches suggests, and around it."""
    tilings = [PLAIN, stepping.expected(here)]
    widest = stepping.ranges["tile"][1]
    blocks = sorted({4, stepping.radius, 2 * stepping.radius})
    if stepping.flat:
        shapes = [(1, width, stepping.threads) for width in (32, 64, 128)]
    else:
        teams = sorted(
            {1, stepping.threads} if stepping.threads <= 4 else {1, _half(stepping.threads), stepping.threads}
        )
        shapes = [(block, width * team, team) for block in blocks for width in (16, 24, 40) for team in teams]
    depths = sorted({min(stepping.steps, depth) for depth in (3, 4, 6, 8)} | {-(-stepping.steps // 2)})
    for depth in depths:
        for block, width, team in shapes:
            tilings.append(Tiling(depth, min(block, stepping.shape[0]), min(width, widest), team))
    room = 2 * here.of_thread(stepping.threads * stepping.ranks)
    return [
        tiling
        for tiling in dict.fromkeys(tilings)
        if stepping.fits(tiling) and (tiling.depth == 1 or stepping.bytes_in_flight(tiling) <= room * tiling.team)
    ]


def _half(threads: int) -> int:
    """The divisor next to the square root: as many teams as threads in each, or nearly."""
    return max(n for n in range(1, threads + 1) if threads % n == 0 and n * n <= threads)


def search(wavefield: TimeStepper, stepping: Stepping, tilings: Iterable[Tiling]) -> Tuned:
    """Collective. Measure all, then the best ones again in turns; the slowest rank's time counts."""
    tilings = list(dict.fromkeys(tilings))
    repeats = 1

    def seconds(tiling: Tiling) -> float:
        wavefield.tiling = tiling
        start = now()
        for _ in range(repeats):
            wavefield.advance(stepping.steps)
        elapsed: float = wavefield.comm.allreduce(now() - start, MPI.MAX)
        return elapsed / repeats

    first = min(seconds(tilings[0]), seconds(tilings[0]))  # the first warms up; either may meet a busy machine
    repeats = max(1, round(SHORTEST_SECONDS / max(first, 1e-6)))
    times = {tiling: [seconds(tiling)] for tiling in tilings}
    finalists = sorted(tilings, key=lambda tiling: times[tiling][0])[:FINALISTS]
    if PLAIN in times and PLAIN not in finalists:
        finalists.append(PLAIN)  # to be compared with
    for _ in range(ROUNDS):
        for tiling in finalists:
            times[tiling].append(seconds(tiling))
    wavefield.reset()
    typical = {tiling: median(times[tiling]) for tiling in finalists}
    # Of those that are as good as equal, the one that suffers least where threads come to lie further apart, or
    # neighbours take their part of the cache.
    fastest = min(typical.values())
    best = min(
        (tiling for tiling in finalists if typical[tiling] <= AS_GOOD_AS * fastest),
        key=lambda tiling: (tiling.team, stepping.bytes_in_flight(tiling)),
    )
    return Tuned(best, "search", typical[PLAIN] / typical[best] if PLAIN in typical else None)


def cache_file(folder: Path | None) -> Path | None:
    """Where choices are kept; None where there is no home."""
    folder = folder or cache_folder()
    return folder / "tuning.json" if folder is not None else None


def key_of(stepping: Stepping) -> str:
    """All that a choice holds for: machine, grid, order, physics, threads, ranks."""
    here = {"cpu": cpu_model(), "cpus": os.cpu_count(), "caches": asdict(caches()), "kernels": _native.variant}
    here["version"] = __version__
    return json.dumps(here | asdict(stepping))


def recall(stepping: Stepping, say: Callable[[str], None], folder: Path | None = None) -> Tuned | None:
    """The choice that was kept for this machine and these steps; None where there is none that fits."""
    path = cache_file(folder)
    entry = _read(path, say).get(key_of(stepping)) if path else None
    if entry is None:
        return None
    try:
        depth, block, tile, team = entry["tiling"]
        tiling, gain = Tiling(depth, block, tile, team), float(entry["gain"])
        if all(type(n) is int for n in tiling.numbers) and stepping.fits(tiling):
            return Tuned(tiling, "cache", gain)
    except (TypeError, ValueError, KeyError, OverflowError):
        pass
    say(f"note: {path}: found no tiling that fits where one was kept; it is chosen anew")
    return None


def remember(stepping: Stepping, tuned: Tuned, say: Callable[[str], None], folder: Path | None = None) -> None:
    """Keep a choice. That it cannot be kept is said, and no reason to end."""
    path = cache_file(folder)
    if path is None:
        say("note: the tuning cannot be kept: there is no home folder, and XDG_CACHE_HOME names none")
        return
    kept = _read(path, lambda line: None) | {key_of(stepping): {"tiling": tuned.tiling.numbers, "gain": tuned.gain}}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, json.dumps({"schema_version": SCHEMA, "choices": kept}, indent=1).encode())
    except (OSError, FathometerError) as error:
        say(f"note: the tuning cannot be kept: {error}")


def _read(path: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """The choices of a cache file; none, with one warning, from a file that is not one."""
    try:
        content = json_values(path.read_text(encoding="utf-8"))
        if content["schema_version"] != SCHEMA:
            return {}
        choices: dict[str, Any] = dict(content["choices"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError):
        say(f"note: {path}: not a tuning cache; it is ignored and will be written anew")
        return {}
    return choices
