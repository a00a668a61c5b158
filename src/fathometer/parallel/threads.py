"""Which cpus each rank of a node gets, how many threads it runs on them, and where they are bound.

The launcher's affinity masks decide. A mask that no other rank touches is used as it is; ranks that share a
mask divide it; when there are more ranks than cpus they take turns, are told so, and nothing is pinned.
"""

import itertools
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.base.errors import InputError

if TYPE_CHECKING:
    from mpi4py import MPI

# More threads of one rank on a cpu are a slip of the pen, and may be more than the system can start.
MOST_ON_A_CPU = 16

# Where a cpu is: (package, core). Two cpus with equal places are hardware threads of one core.
Place = tuple[int, int]


@dataclass(frozen=True)
class Choice:
    """One rank's cpus in the order its threads take them, its threads, and whether cpus are used twice."""

    cpus: list[int]
    threads: int
    oversubscribed: bool


@dataclass(frozen=True)
class Binding:
    """Where one rank runs, for the record. `mask` is what the launcher gave, `actual` each thread's mask."""

    rank: int
    host: str
    local_rank: int
    ranks_on_host: int
    threads: int
    cpus: list[int]
    oversubscribed: bool
    pinned: bool
    wait_policy: str
    mask: list[int]
    actual: list[list[int]]

    def as_dict(self) -> dict[str, object]:
        """The same, as JSON takes it."""
        return asdict(self)


@dataclass(frozen=True)
class Tasks:
    """Threads of a rank, task by task: time steps, images outside them, traces from and to files; and its cpus."""

    propagate: int
    imaging: int
    io: int
    cpus: tuple[int, ...] = ()

    def use(self, number: int) -> None:
        """Make the kernels' team one of so many threads (0: as it is), each on its cpu."""
        from fathometer import _native

        if number and _native.threads() != number:
            _native.set_threads(number)
            if self.cpus:  # threads that were not there before have the mask of the first one
                _native.pin_threads(list(self.cpus))

    def on_traces(self, function: Callable[[np.ndarray], np.ndarray], traces: np.ndarray) -> np.ndarray:
        """function(traces) by the threads for traces, each some rows; it treats every row by itself."""
        if self.io == 1 or len(traces) < 2 * self.io:
            return function(traces)
        with ThreadPoolExecutor(self.io, "traces", *_masked(self.cpus)) as pool:
            return np.concatenate(list(pool.map(function, np.array_split(traces, self.io))))

    def beside(self, name: str) -> ThreadPoolExecutor:
        """A thread that works beside the time steps, on the cpus that these leave free, if they leave any."""
        return ThreadPoolExecutor(1, name, *_masked(self.cpus[self.propagate :] or self.cpus))


def _masked(cpus: tuple[int, ...]) -> tuple[Any, tuple[Any, ...]]:
    """What a new thread begins with: it has the mask of the one that starts it, which is pinned to one cpu."""
    return (os.sched_setaffinity, (0, cpus)) if cpus else (None, ())


def tasks_of(wanted: Mapping[str, int | str], binding: Binding) -> Tasks:
    """Threads of each task; "auto" is all of the rank's. Raises InputError for more than these."""
    most = binding.threads
    for task, number in wanted.items():
        if isinstance(number, int) and number > most:
            raise InputError(f"[threads] {task}: found {number}; allowed: 1 to {most}, the threads of a rank")
    numbers = {task: number if isinstance(number, int) else most for task, number in wanted.items()}
    return Tasks(**numbers, cpus=tuple(binding.cpus) if binding.pinned else ())


def choose_cpus(
    masks: Sequence[set[int]],
    local_rank: int,
    threads: int | None = None,
    places: Mapping[int, Place] | None = None,
) -> Choice:
    """The cpus and threads of rank `local_rank`, given the affinity masks of its node's ranks, in order of
    rank.

    threads  None: one for each cpu of the rank
    places   cpu -> (package, core); where given, whole cores are handed out, neighbours to one rank, and
             threads fill the cores before their second hardware threads. None: each cpu is its own core
    """
    where = {cpu: (0, cpu) for mask in masks for cpu in mask} | dict(places or {})
    shares = divide(masks, where)
    mine = _cores_first(shares[local_rank], where)
    wanted = threads if threads is not None else len(mine)
    # Crowded ranks are not pinned: they float over their mask, and so over the cpus of all who share it.
    around = [shares[rank] for ranks in _sharing(masks) if local_rank in ranks for rank in ranks]
    cpus = list(itertools.chain.from_iterable(around))
    crowded = len(set(cpus)) < len(cpus)
    too_few = threads is not None and any(threads > len(share) for share in around)
    return Choice(cpus=mine[:wanted], threads=wanted, oversubscribed=crowded or too_few)


def divide(masks: Sequence[set[int]], where: Mapping[int, Place]) -> list[list[int]]:
    """Each rank's own cpus. No cpu is given twice unless ranks that share a mask outnumber its cpus."""
    shares: list[list[int]] = [[] for _ in masks]
    for ranks in _sharing(masks):
        cpus = set().union(*(masks[rank] for rank in ranks))
        if all(masks[rank] == cpus for rank in ranks):
            parts = _split(cpus, len(ranks), where)
        else:
            parts = _deal([masks[rank] for rank in ranks])
        for rank, part in zip(ranks, parts, strict=True):
            shares[rank] = part
    return shares


def bind(comm: "MPI.Intracomm", threads: int | None) -> Binding:
    """Set this rank's threads and pin them, by the masks of all ranks on its node; collective over `comm`.

    threads  OpenMP threads of this rank; None: as many as it has cpus

    Threads are not pinned where cpus are used more than once, nor where a lone rank leaves some of its cpus
    idle: another program may have pinned itself to the same first ones. Pair with `unbind`: pinning narrows
    the calling thread's own mask. Raises InputError where `threads` is not positive, or beyond all reason.
    """
    from mpi4py import MPI

    from fathometer import _native

    if threads is not None and threads < 1:
        raise InputError(f"--threads {threads}: the number of threads must be at least 1")
    mask = os.sched_getaffinity(0)
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    try:
        masks: list[set[int]] = node.allgather(mask)
        local_rank = node.Get_rank()
    finally:
        node.Free()
    cpus = len(set().union(*masks))
    if threads is not None and threads > MOST_ON_A_CPU * cpus:
        raise InputError(
            f"--threads {threads}: at most {MOST_ON_A_CPU * cpus} threads a rank are allowed on the {cpus} cpus here"
        )
    choice = choose_cpus(masks, local_rank, threads, places(set().union(*masks)))
    pinned = not choice.oversubscribed and (len(masks) > 1 or choice.threads == len(mask))
    _native.set_threads(choice.threads)
    if pinned:
        _native.pin_threads(choice.cpus)
    return Binding(
        rank=comm.Get_rank(),
        host=socket.gethostname(),
        local_rank=local_rank,
        ranks_on_host=len(masks),
        threads=choice.threads,
        cpus=choice.cpus,
        oversubscribed=choice.oversubscribed,
        pinned=pinned,
        wait_policy=os.environ.get("OMP_WAIT_POLICY", "default"),
        mask=sorted(mask),
        actual=[sorted(cpus) for cpus in _native.thread_binding()],
    )


def displaced(binding: Binding) -> str | None:
    """What is other than was asked for, in words: fewer threads, or threads that have left their cpus."""
    from fathometer import _native

    if len(binding.actual) < binding.threads:
        return f"{binding.threads} threads were asked for, {len(binding.actual)} run"
    if binding.pinned:
        for number, (cpus, wanted) in enumerate(zip(_native.thread_binding(), binding.cpus, strict=False)):
            if set(cpus) != {wanted}:
                return f"thread {number} was put on cpu {wanted} and may now run on {sorted(cpus)}"
    return None


def unbind(binding: Binding) -> None:
    """Give every thread of this process the mask back that it had before `bind`."""
    if not binding.pinned:
        return
    for task in Path("/proc/self/task").iterdir():
        try:
            os.sched_setaffinity(int(task.name), binding.mask)
        except OSError:  # the thread ended meanwhile
            continue


def places(cpus: set[int], root: Path = Path("/sys/devices/system/cpu")) -> dict[int, Place]:
    """Package and core of each of `cpus`, as Linux tells under `root`; cpus it does not know are left out."""
    found: dict[int, Place] = {}
    for cpu in cpus:
        folder = root / f"cpu{cpu}" / "topology"
        try:
            found[cpu] = (
                int((folder / "physical_package_id").read_text()),
                int((folder / "core_id").read_text()),
            )
        except (OSError, ValueError):
            continue
    return found


def _sharing(masks: Sequence[set[int]]) -> list[list[int]]:
    """The ranks in groups: two ranks whose masks overlap are in one group."""
    groups: list[tuple[list[int], set[int]]] = []
    for rank, mask in enumerate(masks):
        members, cpus = [rank], set(mask)
        apart = []
        for group in groups:
            if group[1].isdisjoint(cpus):
                apart.append(group)
            else:
                members, cpus = group[0] + members, group[1] | cpus
        groups = [*apart, (members, cpus)]
    return [sorted(members) for members, _ in groups]


def _split(cpus: set[int], ranks: int, where: Mapping[int, Place]) -> list[list[int]]:
    """`cpus` in `ranks` parts that differ by one core at most; the first parts are the larger ones."""
    by_core: dict[Place, list[int]] = {}
    for cpu in sorted(cpus):
        by_core.setdefault(where[cpu], []).append(cpu)
    cores = [by_core[place] for place in sorted(by_core)]
    if ranks > len(cores):
        cores = [[cpu] for core in cores for cpu in core]  # too few cores: hand out their hardware threads
    if ranks > len(cores):
        return [list(cores[rank % len(cores)]) for rank in range(ranks)]
    ends = [rank * (len(cores) // ranks) + min(rank, len(cores) % ranks) for rank in range(ranks + 1)]
    return [[cpu for core in cores[lo:hi] for cpu in core] for lo, hi in itertools.pairwise(ends)]


def _deal(masks: Sequence[set[int]]) -> list[list[int]]:
    """Masks that overlap but differ: each cpu, least wanted first, to the rank with the fewest so far."""
    parts: list[list[int]] = [[] for _ in masks]
    wanted_by = {cpu: [rank for rank, mask in enumerate(masks) if cpu in mask] for cpu in set().union(*masks)}
    for cpu in sorted(wanted_by, key=lambda cpu: (len(wanted_by[cpu]), cpu)):
        poorest = min(wanted_by[cpu], key=lambda rank: (len(parts[rank]), len(masks[rank]), rank))
        parts[poorest].append(cpu)
    return [sorted(part or mask) for part, mask in zip(parts, masks, strict=True)]


def _cores_first(cpus: Sequence[int], where: Mapping[int, Place]) -> list[int]:
    """`cpus` with one of each core before the second of any."""
    seen: dict[Place, int] = {}
    turn = {}
    for cpu in sorted(cpus):
        turn[cpu] = seen.get(where[cpu], 0)
        seen[where[cpu]] = turn[cpu] + 1
    return sorted(cpus, key=lambda cpu: (turn[cpu], where[cpu], cpu))
