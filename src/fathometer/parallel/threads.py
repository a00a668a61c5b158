"""OpenMP threads of each rank: how many, on which cpus, and their pinning.

The cpus come from the launcher's affinity masks. A mask that overlaps no other rank's is used as it is; ranks with the
same mask divide it; where they outnumber its cpus these are oversubscribed and nothing is pinned.
"""

import itertools
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fathometer.base.errors import InputError

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")

# More threads of one rank on a cpu are a typing error, and may be more than the system can start.
MAX_THREADS_PER_CPU = 16

# (package, core) of a cpu. Cpus with equal places are hardware threads of one core.
Place = tuple[int, int]


@dataclass(frozen=True)
class Choice:
    """Cpus and threads of one rank.

    Attributes:
        cpus: in order of the threads that are pinned to them. threads: number of them.
        oversubscribed: whether some cpu has more than one thread.
    """

    cpus: list[int]
    threads: int
    oversubscribed: bool


@dataclass(frozen=True)
class Binding:
    """Threads of one rank and where they run, for the record.

    Attributes:
        rank, local_rank: in the communicator, on the host. ranks_on_host: number of them.
        threads, cpus, oversubscribed: as of Choice. pinned: whether each thread is bound to its cpu.
        wait_policy: OMP_WAIT_POLICY. mask: affinity mask from the launcher. actual: mask of each thread.
    """

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
        """The same, JSON-ready."""
        return asdict(self)


@dataclass(frozen=True)
class ThreadCounts:
    """Threads of a rank by kind of work. The names are those of the keys in input files (config/sections.py).

    Attributes:
        propagate: of time steps. imaging: of other kernels on whole arrays. io: of data from and to files.
        cpus: that the threads are pinned to, in order; (): not pinned.
    """

    propagate: int
    imaging: int
    io: int
    cpus: tuple[int, ...] = ()

    def use(self, number: int) -> None:
        """Set the number of OpenMP threads of the kernels (0: unchanged) and pin each to its cpu."""
        from fathometer import _native

        if number and _native.threads() != number:
            _native.set_threads(number)
            if self.cpus:  # new threads inherit the mask of the first one
                _native.pin_threads(list(self.cpus))

    def map_rows(self, function: Callable[[np.ndarray], np.ndarray], rows: np.ndarray) -> np.ndarray:
        """function(rows), computed by `io` threads with some rows each; the function must treat rows independently.

        rows: array of any dtype whose first axis is divided; the results are joined along their first axis.
        """
        if self.io == 1 or len(rows) < 2 * self.io:
            return function(rows)
        with ThreadPoolExecutor(self.io, "rows", _begin, (self.cpus, 0)) as pool:
            return np.concatenate(list(pool.map(function, np.array_split(rows, self.io))))

    def background_thread(self, name: str) -> ThreadPoolExecutor:
        """An executor of one thread for work during the time steps, on the cpus that these leave free, if any."""
        return ThreadPoolExecutor(1, name, _begin, (self.cpus[self.propagate :] or self.cpus, 0))

    def pool(self, name: str, threads: int, kernels: int = 0) -> ThreadPoolExecutor:
        """An executor of some threads on all cpus of the rank, whose kernels have `kernels` threads each; 0: as many as
        a new thread's have."""
        return ThreadPoolExecutor(threads, name, _begin, (self.cpus, kernels))


def over_planes(function: Callable[[int], T], planes: int) -> list[T]:
    """function(0), …, function(planes - 1), by as many threads as the kernels have, on their cpus; the results in
    order. For work on one plane of an array at a time, small enough for a cache, in functions that let go of Python's
    lock."""
    from fathometer import _native

    threads = min(_native.threads(), planes)
    if threads < 2:
        return [function(plane) for plane in range(planes)]
    cpus = tuple(sorted(set().union(*_native.thread_binding())))
    with ThreadPoolExecutor(threads, "planes", _begin, (cpus, 1)) as pool:
        return list(pool.map(function, range(planes)))


def by_planes(function: Callable[..., np.ndarray], dtype: np.dtype[Any] | type, *arrays: np.ndarray) -> np.ndarray:
    """function(*arrays), of `dtype`, which treats each cell by itself; computed as `over_planes`.

    arrays: (nx, …) of one shape.
    """
    result = np.empty(arrays[0].shape, dtype)

    def plane(x: int) -> None:
        result[x] = function(*(array[x] for array in arrays))

    over_planes(plane, len(result))
    return result


def _begin(cpus: tuple[int, ...], kernels: int) -> None:
    """In a new thread, which inherits the mask of a thread pinned to one cpu, and OpenMP's default threads."""
    from fathometer import _native

    if cpus:
        os.sched_setaffinity(0, cpus)
    if kernels:
        _native.set_threads(kernels)


def thread_counts(requested: Mapping[str, int | str], binding: Binding, section: str = "threads") -> ThreadCounts:
    """The requested threads of each kind of work; "auto": all threads of the rank.

    Raises InputError for more than the rank has; section: where the request stands, for the message.
    """
    available = binding.threads
    for work, number in requested.items():
        if isinstance(number, int) and number > available:
            raise InputError(f"{section} {work}: found {number}; allowed: 1 to {available}, the threads of a rank")
    numbers = {work: number if isinstance(number, int) else available for work, number in requested.items()}
    return ThreadCounts(**numbers, cpus=tuple(binding.cpus) if binding.pinned else ())


def choose_cpus(
    masks: Sequence[set[int]],
    local_rank: int,
    threads: int | None = None,
    places: Mapping[int, Place] | None = None,
) -> Choice:
    """The cpus and threads of rank `local_rank`.

    Args:
        masks: affinity masks of the ranks of a node, in order of rank.
        threads: of the rank; None: one for each of its cpus.
        places: (package, core) of the cpus; where given, ranks get whole neighbouring cores, whose first hardware
            threads are used before the second ones. None: each cpu is a core.
    """
    where = {cpu: (0, cpu) for mask in masks for cpu in mask} | dict(places or {})
    shares = divide(masks, where)
    own = _cores_first(shares[local_rank], where)
    count = threads if threads is not None else len(own)
    # Oversubscribed ranks are not pinned: they run anywhere in their mask, and so on the cpus of all who share it.
    around = [shares[rank] for ranks in _sharing(masks) if local_rank in ranks for rank in ranks]
    cpus = list(itertools.chain.from_iterable(around))
    used_twice = len(set(cpus)) < len(cpus)
    too_few = threads is not None and any(threads > len(share) for share in around)
    return Choice(cpus=own[:count], threads=count, oversubscribed=used_twice or too_few)


def divide(masks: Sequence[set[int]], where: Mapping[int, Place]) -> list[list[int]]:
    """The cpus of each rank. No cpu is assigned twice unless ranks that share a mask outnumber its cpus."""
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


def bind(comm: "MPI.Intracomm", threads: int | None, pin: bool = True) -> Binding:
    """Collective. Set this rank's number of OpenMP threads and pin them, by the masks of all ranks on its node.

    threads: of this rank; None: as many as it has cpus.

    Threads are not pinned without `pin`, where cpus are oversubscribed, nor where a single rank leaves some of its cpus
    idle: another program may have pinned itself to the same first ones. Pair with `unbind`: pinning narrows
    the calling thread's own mask. Raises InputError where `threads` is not positive, or too large for the cpus.
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
    limit = MAX_THREADS_PER_CPU * cpus
    if threads is not None and threads > limit:
        raise InputError(f"--threads {threads}: at most {limit} threads a rank are allowed on the {cpus} cpus here")
    choice = choose_cpus(masks, local_rank, threads, places(set().union(*masks)))
    pinned = pin and not choice.oversubscribed and (len(masks) > 1 or choice.threads == len(mask))
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
    """How the threads deviate from the binding, in words: fewer of them, or some on other cpus; None: not at all."""
    from fathometer import _native

    if len(binding.actual) < binding.threads:
        return f"{binding.threads} threads were asked for, {len(binding.actual)} run"
    if binding.pinned:
        for number, (cpus, cpu) in enumerate(zip(_native.thread_binding(), binding.cpus, strict=False)):
            if set(cpus) != {cpu}:
                return f"thread {number} was put on cpu {cpu} and may now run on {sorted(cpus)}"
    return None


def unbind(binding: Binding) -> None:
    """Restore the affinity mask before `bind` for every thread of this process."""
    if not binding.pinned:
        return
    for task in Path("/proc/self/task").iterdir():
        try:
            os.sched_setaffinity(int(task.name), binding.mask)
        except OSError:  # the thread has ended meanwhile
            continue


def places(cpus: set[int], root: Path = Path("/sys/devices/system/cpu")) -> dict[int, Place]:
    """Package and core of each of `cpus`, from Linux's files under `root`; unknown cpus are left out."""
    known: dict[int, Place] = {}
    for cpu in cpus:
        folder = root / f"cpu{cpu}" / "topology"
        try:
            known[cpu] = (
                int((folder / "physical_package_id").read_text()),
                int((folder / "core_id").read_text()),
            )
        except (OSError, ValueError):
            continue
    return known


def _sharing(masks: Sequence[set[int]]) -> list[list[int]]:
    """Groups of ranks whose masks overlap, directly or by way of others."""
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
    """`cpus` divided into `ranks` parts that differ by one core at most; the first parts are the larger ones."""
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
    """Division of masks that overlap but differ: each cpu, those of the fewest masks first, goes to the rank with the
    fewest cpus so far."""
    parts: list[list[int]] = [[] for _ in masks]
    claimants = {cpu: [rank for rank, mask in enumerate(masks) if cpu in mask] for cpu in set().union(*masks)}
    for cpu in sorted(claimants, key=lambda cpu: (len(claimants[cpu]), cpu)):
        poorest = min(claimants[cpu], key=lambda rank: (len(parts[rank]), len(masks[rank]), rank))
        parts[poorest].append(cpu)
    return [sorted(part or mask) for part, mask in zip(parts, masks, strict=True)]


def _cores_first(cpus: Sequence[int], where: Mapping[int, Place]) -> list[int]:
    """`cpus` ordered so that each core's first hardware thread comes before any second one."""
    seen: dict[Place, int] = {}
    turn = {}
    for cpu in sorted(cpus):
        turn[cpu] = seen.get(where[cpu], 0)
        seen[where[cpu]] = turn[cpu] + 1
    return sorted(cpus, key=lambda cpu: (turn[cpu], where[cpu], cpu))
