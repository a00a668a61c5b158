"""Which tiling a run uses: the survey's, one that is known from an earlier run, or what a model of the caches suggests.

While the run goes on, trials in its own time steps look for a better one (trials.py). A search beforehand, which takes
steps of the real wavefield while it is quiet, is made only where it is asked for. What either finds is kept in the
user's cache folder (tuning_cache.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Protocol

from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.base.host import Caches, caches
from fathometer.base.ledger import Ledger, now
from fathometer.config.sections import TuningTable
from fathometer.grid.tiling import DEEP, DEEPEST, DIAMONDS, LOWEST, PLAIN, ROWS, Stepping, Tiling, Tuned
from fathometer.grid.trials import Trials
from fathometer.grid.tuning_cache import Kept, recall, remember
from fathometer.parallel.collectives import barrier
from fathometer.parallel.decomposition import Decomposition

SHORTEST_SECONDS = 0.02  # a measurement; less is the clock's and the neighbours' noise
LEAST_UPDATES = 2e8  # cell updates of a thread in a run that are worth trials: a second, of which they may lose 20 ms
FINALISTS, ROUNDS = 5, 5
AS_GOOD_AS = 1.02  # times the least time: within what medians of repeats differ by
KEYS = {"depth": "time_depth", "block": "block", "tile": "tile", "team": "team"}  # in the survey's [tuning]


class TimeStepper(Protocol):
    """Fields on a grid that are stepped in time, as tuning sees them.

    Attributes:
        tiling: how steps are grouped into sweeps. trials: which choose it anew for every advance; None: it stays.
    """

    tiling: Tiling
    trials: Trials | None

    @property
    def comm(self) -> MPI.Intracomm:
        """The ranks that share the grid."""

    @property
    def block(self) -> Decomposition:
        """This rank's block of the grid."""

    @property
    def radius(self) -> int:
        """Cells by which tiles move at a stage of a step: its reach, or that of points between cells."""

    @property
    def stages(self) -> int:
        """Of a step."""

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""

    @property
    def reach(self) -> int:
        """Cells that a stage of a tile reaches, points included."""

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
        shape=(x, y, z),
        radius=wavefield.radius,
        fields=wavefield.field_count,
        itemsize=wavefield.itemsize,
        steps=steps,
        threads=fewest,
        ranks=ranks,
        arrays=wavefield.array_count,
        cut=(block.ranks[0] > 1, block.ranks[1] > 1, block.ranks[2] > 1),
        reach=wavefield.reach,
        stages=wavefield.stages,
    )


def modelled_tiling(wavefield: TimeStepper, steps: int, threads: int) -> Tiling:
    """Collective. What a model of the caches suggests; arguments as of `tune`."""
    return stepping_of(wavefield, steps, threads).expected(wavefield.comm.bcast(caches()))


def tune(
    wavefield: TimeStepper,
    wanted: TuningTable,
    steps: int,
    total: int,
    threads: int,
    say: Callable[[str], None],
    folder: Path | None = None,
    earlier: Trials | None = None,
) -> Tuned:
    """Collective. Choose the tiling of a quiet wavefield and set it there, with trials where there are to be any.

    Args:
        steps: time steps that are taken at a time, total: of the run.
        say: prints a line for people, where there is one to say.
        folder: of the cache (tests); None: the user's.
        earlier: trials of another wavefield of the run: go on where the steps are of the same kind, else what they
            found is the first incumbent, where nothing is known.

    Raises InputError, the same on all ranks, for a choice of the survey that does not fit.
    """
    stepping = stepping_of(wavefield, steps, threads)
    if earlier is not None and earlier.stepping == stepping:
        wavefield.tiling, wavefield.trials = earlier.tiling, earlier
        return earlier.outcome
    comm = wavefield.comm
    here: Caches = comm.bcast(caches())
    fixed = _fixed(stepping, wanted)
    cells = float(comm.allreduce(math.prod(wavefield.block.local_shape), MPI.SUM))
    kept: Kept | None = None
    if len(fixed) == 4:
        tuned = Tuned(Tiling(**fixed), "survey")
    elif wanted.search == "always":
        tuned = _search_and_keep(wavefield, stepping, here, fixed, say, folder)
    else:
        if not fixed:
            kept = comm.bcast(recall(stepping, say, folder) if comm.rank == 0 else None)
        if kept is not None:
            tuned = Tuned(kept.tiling, "cache", kept.gain)
        elif earlier is not None and stepping.fits(earlier.tiling):
            tuned = replace(earlier.outcome, gain=None)
        else:
            tuned = Tuned(with_choices(stepping, stepping.expected(here), fixed), "survey" if fixed else "model")
    if earlier is not None:
        before = earlier.outcome
        tuned = replace(tuned, trials=before.trials, lost=before.lost, changes=before.changes)
    wavefield.tiling, wavefield.trials = tuned.tiling, None
    worth = cells * total >= LEAST_UPDATES * stepping.threads * comm.size
    if wanted.search == "auto" and len(fixed) < 4 and worth:

        def allowed(tilings: dict[str, Tiling]) -> dict[str, Tiling]:
            chosen = {name: with_choices(stepping, tiling, fixed) for name, tiling in tilings.items()}
            return {name: tiling for name, tiling in chosen.items() if stepping.fits(tiling)}

        wavefield.trials = Trials(
            stepping,
            comm,
            cells,
            tuned,
            lambda tiling: allowed(around(stepping, tiling)),
            list(allowed({str(n): seed for n, seed in enumerate(seeds(stepping, here))}).values()),
            kept,
            keep=not fixed,
        )
    return tuned


def best_tiling(
    wavefield: TimeStepper,
    wanted: TuningTable,
    steps: int,
    threads: int,
    say: Callable[[str], None],
    folder: Path | None = None,
) -> Tuned:
    """Collective. For benchmarks: the tiling that an earlier search has found, or one now. Arguments as of `tune`."""
    stepping = stepping_of(wavefield, steps, threads)
    comm = wavefield.comm
    fixed = _fixed(stepping, wanted)
    kept = comm.bcast(recall(stepping, say, folder) if comm.rank == 0 and not fixed else None)
    if kept is not None and kept.gain is not None:
        tuned = Tuned(kept.tiling, "cache", kept.gain)
    else:
        tuned = _search_and_keep(wavefield, stepping, comm.bcast(caches()), fixed, say, folder)
    wavefield.tiling = tuned.tiling
    return tuned


def learned(trials: Trials, say: Callable[[str], None], folder: Path | None = None) -> Tuned:
    """What trials found; it is kept, by the first of the ranks that share the grid, where it is new."""
    if trials.comm.rank == 0 and trials.to_keep is not None:
        remember(trials.stepping, trials.to_keep, say, folder)
    return trials.outcome


def _search_and_keep(
    wavefield: TimeStepper,
    stepping: Stepping,
    here: Caches,
    fixed: dict[str, int],
    say: Callable[[str], None],
    folder: Path | None,
) -> Tuned:
    tilings = [with_choices(stepping, tiling, fixed) for tiling in candidates(stepping, here)]
    with Ledger():  # its steps and exchanges are no part of the run's: the phase around keeps their seconds
        tuned = search(wavefield, stepping, tilings)
    if not fixed and wavefield.comm.rank == 0:
        remember(stepping, Kept(tuned.tiling, len(tilings), True, tuned.gain), say, folder, always=True)
    return tuned


def _fixed(stepping: Stepping, wanted: TuningTable) -> dict[str, int]:
    """What the survey says. Raises InputError where it does not fit."""
    fixed = {choice: value for choice, key in KEYS.items() if isinstance(value := getattr(wanted, key), int)}
    if wanted.tile == "diamonds":
        fixed["tile"] = DIAMONDS
    check_choices(stepping, fixed)
    return fixed


def check_choices(stepping: Stepping, fixed: dict[str, int]) -> None:
    """Raises InputError for a choice out of range."""
    if fixed.get("tile") == DIAMONDS:
        reason = "in two dimensions" if stepping.flat else "where ranks share the grid along other axes than y"
        if not stepping.diamonds:
            raise InputError(f'[tuning] tile: found "diamonds"; allowed {reason}: "auto" or a width')
        if (height := fixed.get("depth", 2)) > stepping.highest:
            raise InputError(
                f"[tuning] {KEYS['depth']}: found {height} with diamonds; allowed: up to {stepping.highest}, where a "
                f"rank has {stepping.shape[1]} rows between others"
                if stepping.highest > 1
                else f'[tuning] tile: found "diamonds"; allowed where a rank has {stepping.shape[1]} rows between '
                'others: "auto" or a width'
            )
        fixed = {name: value for name, value in fixed.items() if name != "tile"}
        if fixed.get("team", 1) > 1:
            raise InputError(f"[tuning] team: found {fixed['team']}; allowed with diamonds: 1")
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
        "depth": f"{stepping.steps} time steps are taken at a time here, between snapshots; never more than {DEEPEST}",
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
    if tiling.tile == DIAMONDS and (fixed.get("team", 1) > 1 or fixed.get("depth") == 1):
        tiling = replace(tiling, tile=min(32, stepping.ranges["tile"][1]))
    if fixed.get("tile") == DIAMONDS:
        tiling = replace(tiling, team=1)
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
    shallow = {max(2, math.ceil(depth / stepping.stages)) for depth in (3, 4, 6, 8)}
    depths = sorted({min(stepping.steps, depth) for depth in {3, 4, 6, 8} | shallow} | {-(-stepping.steps // 2)})
    if stepping.diamonds and stepping.steps >= 3 * ROWS:  # where they are faster, few others are worth their time
        shapes, depths = [(block, width, 1) for block in blocks for width in (40, 80)], [DEEP // stepping.stages]
    for depth in depths:
        for block, width, team in shapes:
            tilings.append(Tiling(depth, min(block, stepping.shape[0]), min(width, widest), team))
    for height in sorted({math.ceil(stages / stepping.stages) for stages in (LOWEST, 4, 5, 6, 8, 10)}):
        tilings += [Tiling(height, min(block, stepping.shape[0]), DIAMONDS, 1) for block in blocks]
    room = 2 * here.of_thread(stepping.threads * stepping.ranks)
    return [
        tiling
        for tiling in dict.fromkeys(tilings)
        if stepping.fits(tiling) and (tiling.depth == 1 or stepping.bytes_in_flight(tiling) <= room * tiling.team)
    ]


def seeds(stepping: Stepping, here: Caches) -> list[Tiling]:
    """Where trials begin beside the model's choice, which is wrong where hosts lend less of a cache than they tell of
    it: what it says of smaller caches, in blocks twice as wide."""
    found = []
    for times in (4, 8, 2, 16, 1):
        if times * here.own <= 2 * here.of_thread(stepping.threads * stepping.ranks):
            tiling = stepping.expected(Caches(times * here.own, 0, 1))
            if tiling.depth > 1 and not stepping.flat:
                tiling = replace(tiling, block=min(2 * stepping.radius, stepping.shape[0]))
            found.append(tiling)
    return list(dict.fromkeys(found))


def around(stepping: Stepping, tiling: Tiling) -> dict[str, Tiling]:
    """The tilings next to one, by what is changed; those come first that gain most often."""
    if tiling.depth == 1:
        return {}
    depth, block, tile, team = tiling.numbers
    x, widest = stepping.shape[0], stepping.ranges["tile"][1]
    if tile == DIAMONDS:
        near = {
            "higher": Tiling(depth + math.ceil(depth / 4), block, DIAMONDS, 1),
            "lower": Tiling(depth - math.ceil(depth / 5), block, DIAMONDS, 1),
            "wider blocks": Tiling(depth, min(2 * block, x), DIAMONDS, 1),
            "narrower blocks": Tiling(depth, max(1, block // 2), DIAMONDS, 1),
        }
        return {name: t for name, t in near.items() if t != tiling and stepping.fits(t)}
    depths = sorted({-(-stepping.steps // sweeps) for sweeps in range(1, stepping.steps + 1)})
    deeper = [n for n in depths if depth < n <= DEEPEST]
    shallower = [n for n in depths if n < depth]
    near = {
        "wider blocks": Tiling(depth, min(2 * block, x), tile, team),
        "narrower tiles": Tiling(depth, block, max(1, round(tile / 1.5)), team),
        "wider tiles": Tiling(depth, block, min(math.ceil(1.5 * tile), widest), team),
        "narrower blocks": Tiling(depth, max(1, block // 2), tile, team),
    }
    if deeper:
        near["deeper"] = Tiling(deeper[0], block, tile, team)
    if shallower:
        near["shallower"] = Tiling(shallower[-1], block, tile, team) if shallower[-1] > 1 else PLAIN
    if stepping.flat:  # tiles are blocks in x, which all threads share
        near = {name: t for name, t in near.items() if "blocks" not in name}
    else:
        alone = max(1, round(tile / team))
        teams = [1, stepping.threads] if stepping.threads <= 4 else [1, _half(stepping.threads), stepping.threads]
        near |= {f"teams of {n}": Tiling(depth, block, min(alone * n, widest), n) for n in teams if n != team}
    return {name: t for name, t in near.items() if t != tiling and stepping.fits(t)}


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
