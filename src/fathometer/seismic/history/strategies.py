"""Stores of the history: what each needs of memory and disk, what it adds to a run, and how it is opened.

memory       all snapshots in memory
disk         all snapshots in a scratch file, written and read beside the time steps
checkpoint   some snapshots in memory; the others are computed again from saved states (checkpoint.py)
files        only in plans: on disk as older codes have it, the time steps waiting for writing and reading
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words
from fathometer.grid.arrays import allocate
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.history.checkpoint import CheckpointHistory, DiskStates, MemoryStates, States
from fathometer.seismic.history.choice import HistoryChoice, HistoryShare, Rates
from fathometer.seismic.history.encoding import EXPECTED, PLAIN, Encoding
from fathometer.seismic.history.schedule import MOST_WORK, Schedule
from fathometer.seismic.history.store import History, StackedHistory
from fathometer.seismic.survey import HistoryTable
from fathometer.seismic.waves.propagator import Propagator
from fathometer.storage.scratch.stack import SLAB_BYTES, DiskStack, MemoryStack, Stack, padded, slab_of

# Plain snapshots in memory beside the records: those that are (being) encoded or decoded, one of them again where it is
# examined, and a record whose size is not known beforehand.
UNENCODED_BUFFERS = {"float32": 0, "float16": 2, "int8": 2, "zfp": 4, "wavelet": 4}
STATE_COST = 2.0  # imaging steps that writing and reading a state is worth, where that goes to the disk
LOSSY_CHOICE = "int8"  # that "auto" may take
SCRATCH_KIND = "history"  # kind of the scratch files in the account


@dataclass(frozen=True, eq=False)
class HistoryRequest:
    """What a run asks of its history.

    Attributes:
        table: [history]. where: the survey's path, for errors. folder: of scratch files; called where it is needed,
            raises InputError. snapshots: of a shot. every: time steps between them. spare_bytes: memory that is left.
        ranks_on_host: that share the host's budgets. another: makes a second wavefield in the same model, without a
            collective call. stores: that there are, by name, the preferred one first. card_bytes: of a graphics card
            that are left for this rank; card_twin: that a second wavefield takes there.
    """

    table: HistoryTable
    where: str
    folder: Callable[[], Path]
    snapshots: int
    every: int
    spare_bytes: int
    ranks_on_host: int
    comm: MPI.Intracomm
    wavefield: Propagator
    another: Callable[[], Propagator]
    stores: Mapping[str, Store]
    card_bytes: int = 0
    card_twin: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the wavefield."""
        return self.wavefield.scheme.dtype

    @property
    def snapshot_bytes(self) -> int:
        """Of a plain snapshot on this rank."""
        return math.prod(self.wavefield.image_shape) * self.dtype.itemsize

    @property
    def threads(self) -> ThreadCounts:
        """Of the wavefield."""
        return self.wavefield.threads

    def budget(self, bytes_of_host: str | float, otherwise: float) -> float:
        """Bytes of a host's budget for one of its ranks; `otherwise`: where that is "auto"."""
        return (bytes_of_host if isinstance(bytes_of_host, float) else otherwise) / self.ranks_on_host


class Store(Protocol):
    """Where the history is kept.

    Attributes:
        all_in_memory: all records of a shot are in memory at the same time.
    """

    all_in_memory: ClassVar[bool]

    def fit(
        self,
        wanted: HistoryTable,
        snapshots: int,
        shares: Sequence[HistoryShare],
        encoding: str,
        most_work: float = MOST_WORK,
    ) -> HistoryChoice | str:
        """How it would be kept here, or why it does not fit. most_work: of schedule.Schedule."""

    def open(
        self, request: HistoryRequest, choice: HistoryChoice, encoding: Encoding | None
    ) -> tuple[History, Propagator | None]:
        """The history, and the source's own wavefield where snapshots are computed again. encoding: None: plain.

        Raises FathometerError or InputError: a disk that is full or not there.
        """

    def push_pop_seconds(
        self, encoding: float, part: float, writing: float, reading: float, computing: float
    ) -> tuple[float, float]:
        """What pushing and popping all snapshots add to the two loops of a shot, s.

        encoding: of encoding all, which decoding takes too. part: bytes kept over those of plain snapshots.
        writing, reading: of all plain snapshots. computing: of the time steps of one loop.
        """

    def waiting_seconds(self, moved: float, rate: float, computing: float) -> float:
        """What both loops of a shot wait for files, s.

        moved: bytes of all records, to or from a disk in one loop. rate: of the disk, bytes/s. computing: of the time
        steps of one loop, s.
        """


class MemoryStore:
    """All snapshots in memory."""

    all_in_memory: ClassVar[bool] = True

    def fit(
        self,
        wanted: HistoryTable,
        snapshots: int,
        shares: Sequence[HistoryShare],
        encoding: str,
        most_work: float = MOST_WORK,
    ) -> HistoryChoice | str:
        """Whether all records fit into the memory that is left."""
        loose = SLAB_BYTES if encoding in EXPECTED else 0  # the last slab is not full
        needs = [snapshots * s.records[encoding] + _unencoded_bytes(s, encoding) + loose for s in shares]
        too_little = shortfall(f"memory with {encoding}", "memory", needs, [s.memory for s in shares])
        return too_little or all_kept("memory", encoding, snapshots, memory_bytes=max(needs))

    def open(
        self, request: HistoryRequest, choice: HistoryChoice, encoding: Encoding | None
    ) -> tuple[History, Propagator | None]:
        """Reserve the memory."""
        return _stacked(request, _memory_stack(request, choice, encoding), encoding), None

    def push_pop_seconds(
        self, encoding: float, part: float, writing: float, reading: float, computing: float
    ) -> tuple[float, float]:
        """What copies in memory take."""
        return encoding, encoding

    def waiting_seconds(self, moved: float, rate: float, computing: float) -> float:
        """Nothing is waited for: there are no files of records."""
        return 0.0


class DiskStore:
    """All snapshots in a scratch file, of which two slabs are in memory."""

    all_in_memory: ClassVar[bool] = False

    def fit(
        self,
        wanted: HistoryTable,
        snapshots: int,
        shares: Sequence[HistoryShare],
        encoding: str,
        most_work: float = MOST_WORK,
    ) -> HistoryChoice | str:
        """Whether all records fit on the disk."""
        name = f"disk with {encoding}"
        slabs = [
            2 * slab_of(s.snapshot if encoding in EXPECTED else s.records[encoding]) + _unencoded_bytes(s, encoding)
            for s in shares
        ]
        needs = [snapshots * s.records[encoding] for s in shares]
        too_little = shortfall(name, "memory", slabs, [s.memory for s in shares]) or shortfall(
            name, "disk", needs, [s.disk for s in shares]
        )
        return too_little or all_kept(
            "disk", encoding, snapshots, memory_bytes=max(slabs), disk_bytes=max(needs), place="on disk"
        )

    def open(
        self, request: HistoryRequest, choice: HistoryChoice, encoding: Encoding | None
    ) -> tuple[History, Propagator | None]:
        """Reserve the file."""
        largest, fixed = _record_size(request, encoding)
        slab = slab_of(largest)
        slabs = math.ceil(choice.kept / (slab // padded(largest))) if fixed and largest else 0
        limit = math.inf if fixed else max(2 * slab, request.budget(request.table.disk_budget, math.inf))
        worker = request.threads.background_thread(SCRATCH_KIND)
        stack = DiskStack(
            folder=request.folder(),
            largest=largest,
            slab_bytes=slab,
            reserved=slabs,
            worker=worker,
            direct=request.table.direct,
            kind=SCRATCH_KIND,
            limit=limit,
        )
        return _stacked(request, stack, encoding), None

    def push_pop_seconds(
        self, encoding: float, part: float, writing: float, reading: float, computing: float
    ) -> tuple[float, float]:
        """What copies take; files move beside the time steps."""
        return encoding + max(0.0, part * writing - computing), encoding + max(0.0, part * reading - computing)

    def waiting_seconds(self, moved: float, rate: float, computing: float) -> float:
        """What files take longer than the time steps beside which they move."""
        return 2 * max(0.0, moved / rate - computing)


class CheckpointStore(MemoryStore):
    """Some snapshots in memory, the others computed again from saved states; none waits for a file."""

    all_in_memory: ClassVar[bool] = False

    def fit(
        self,
        wanted: HistoryTable,
        snapshots: int,
        shares: Sequence[HistoryShare],
        encoding: str,
        most_work: float = MOST_WORK,
    ) -> HistoryChoice | str:
        """How many snapshots and states fit beside a second wavefield, and what computing the others again costs."""
        name, what = f"checkpoint with {encoding}", "memory beside a second wavefield"
        here = [s for s in shares if s.snapshot]
        room = math.floor(
            min(
                ((s.beside_twin - _unencoded_bytes(s, encoding)) / s.records[encoding] for s in here), default=snapshots
            )
        )
        state = max((math.ceil(s.state / s.records[encoding]) for s in here), default=1)
        if room < 1:
            needs = [_unencoded_bytes(s, encoding) + s.records[encoding] for s in shares]
            return shortfall(name, what, needs, [s.beside_twin for s in shares])
        on_disk = wanted.states == "disk"
        schedule = Schedule(snapshots, room, 0 if on_disk else state, STATE_COST * on_disk, most_work)
        cost = schedule.cost()
        memory = [cost.most_room * s.records[encoding] + _unencoded_bytes(s, encoding) for s in shares]
        if not on_disk:  # ranks whose cells are all padding have states, but no snapshots
            memory = [m if s.snapshot else cost.most_states * s.state for m, s in zip(memory, shares, strict=True)]
        disk = [cost.most_states * s.state if on_disk else 0 for s in shares]
        too_little = shortfall(name, what, memory, [s.beside_twin for s in shares]) or shortfall(
            name, "disk", disk, [s.disk for s in shares]
        )
        return too_little or HistoryChoice(
            store="checkpoint",
            encoding=encoding,
            states_on_disk=on_disk,
            snapshots=snapshots,
            kept=cost.most_kept,
            states=cost.most_states,
            room=cost.most_room,
            memory_bytes=max(memory),
            disk_bytes=max(disk),
            schedule=schedule,
            recomputed=cost.advances,
        )

    def open(
        self, request: HistoryRequest, choice: HistoryChoice, encoding: Encoding | None
    ) -> tuple[History, Propagator | None]:
        """Make room for snapshots and states; a second wavefield computes the others again."""
        stack = _memory_stack(request, choice, encoding)
        history = _stacked(request, stack, encoding)
        if choice.schedule is None or not choice.twin:
            return history, None
        states: States
        state_bytes = request.wavefield.state_bytes
        if choice.states_on_disk:
            states = DiskStates(request.folder(), state_bytes, choice.states)
        else:  # where all records have one size, states share their memory
            largest, fixed = _record_size(request, encoding)
            states = MemoryStates(state_bytes, stack.slabs[0] if fixed and largest else None)
        twin = request.another()
        twin.threads, twin.tiling = request.wavefield.threads, request.wavefield.tiling
        twin.trials = request.wavefield.trials
        return CheckpointHistory(history, choice.schedule, states), twin


class FilesStore(DiskStore):
    """Plain snapshots in files that the time steps wait for, as older codes have it: only in plans."""

    def push_pop_seconds(
        self, encoding: float, part: float, writing: float, reading: float, computing: float
    ) -> tuple[float, float]:
        """What files take: the time steps wait for them."""
        return writing, reading


STORES: dict[str, Store] = {"memory": MemoryStore(), "disk": DiskStore(), "checkpoint": CheckpointStore()}
PLANNED_STORES: dict[str, tuple[str, Store]] = {name: (name, store) for name, store in STORES.items()} | {
    "files": ("disk", FilesStore())
}  # with the [history] store that each is planned as


def preferred_store(table: HistoryTable) -> Store:
    """The store that the survey asks for; with "auto", and for a card, which keeps all too, the one in memory."""
    return STORES.get(table.store, next(iter(STORES.values())))


def choose_history(
    wanted: HistoryTable,
    snapshots: int,
    shares: Sequence[HistoryShare],
    rates: Callable[[], Rates],
    where: str,
    most_work: float = MOST_WORK,
    stores: Mapping[str, Store] | None = None,
) -> HistoryChoice:
    """The way that the survey asks for, or with "auto" the one that adds the least time among those that fit.

    rates: called once, where the choice depends on them. most_work: of schedule.Schedule. stores: that there are; None:
    STORES. Raises InputError, beginning with `where`, where nothing fits, or the survey's store is not among them.
    """
    there = STORES if stores is None else stores
    if wanted.store != "auto" and wanted.store not in there:
        raise InputError(
            f'{where}: [history] store: found "{wanted.store}" without a graphics card; '
            f"allowed: auto, {', '.join(there)}"
        )
    encodings = [wanted.encoding] if wanted.encoding != "auto" else [PLAIN, LOSSY_CHOICE]
    names = [wanted.store] if wanted.store != "auto" else list(there)
    choosing = len(encodings) * len(names) > 1
    fitting: list[HistoryChoice] = []
    shortfalls: list[str] = []
    for encoding in encodings:
        for store in names:
            choice = there[store].fit(wanted, snapshots, shares, encoding, most_work)
            if isinstance(choice, str):
                shortfalls.append(choice)
            elif not choosing or (there[store].all_in_memory and encoding == encodings[0]):
                return replace(choice, reason="all fit" if choosing else "")
            else:
                fitting.append(choice)
    if not fitting:
        raise InputError(
            f"{where}: [history]: {'; '.join(shortfalls)}; use more hosts, a larger [imaging] every, another store or "
            "encoding, or larger budgets"
        )
    measured = rates()
    priced = [replace(c, extra_seconds=_extra_seconds(c, shares, measured, there[c.store])) for c in fitting]
    best = min(priced, key=lambda choice: choice.extra_seconds or 0.0)
    prices = [f"{c.store} with {c.encoding} adds {c.extra_seconds:.2g} s a shot" for c in priced]
    return replace(best, reason="; ".join([*shortfalls, *prices]))


def all_kept(store: str, encoding: str, snapshots: int, **more: Any) -> HistoryChoice:
    """The choice of a store that keeps all snapshots; more: what else HistoryChoice has, its bytes among it."""
    return HistoryChoice(
        store=store,
        encoding=encoding,
        states_on_disk=False,
        snapshots=snapshots,
        kept=snapshots,
        states=0,
        room=snapshots,
        **more,
    )


def _unencoded_bytes(share: HistoryShare, encoding: str) -> int:
    """Bytes of plain snapshots beside the records."""
    return UNENCODED_BUFFERS[encoding] * share.snapshot


def shortfall(name: str, what: str, needs: Sequence[float], have: Sequence[float]) -> str:
    """Why some rank has too little; empty where all have enough."""
    need, has = max(zip(needs, have, strict=True), key=lambda pair: pair[0] - pair[1])
    if need <= has:
        return ""
    amounts = bytes_in_words(need), bytes_in_words(has)
    if amounts[0] == amounts[1]:
        amounts = f"{need:.0f} bytes", f"{has:.0f} bytes"
    return f"{name} needs {amounts[0]} of {what} a rank, of {amounts[1]}"


def _extra_seconds(choice: HistoryChoice, shares: Sequence[HistoryShare], rates: Rates, store: Store) -> float:
    """Seconds that it adds to a shot."""
    computing = choice.snapshots * rates.imaging_step_seconds  # of each of the two loops
    seconds = choice.snapshots * rates.encoding_seconds if choice.encoded else 0.0
    moved = max(choice.snapshots * s.records[choice.encoding] for s in shares)
    seconds += store.waiting_seconds(moved, rates.disk_bytes_per_second, computing)
    return seconds + choice.recomputed * rates.imaging_step_seconds


def _record_size(request: HistoryRequest, encoding: Encoding | None) -> tuple[int, bool]:
    """Bytes of the largest record, and whether all have that size."""
    return (request.snapshot_bytes, True) if encoding is None else (encoding.largest, encoding.fixed)


def _memory_stack(request: HistoryRequest, choice: HistoryChoice, encoding: Encoding | None) -> MemoryStack:
    largest, fixed = _record_size(request, encoding)
    if fixed:
        return MemoryStack(largest, choice.room * padded(largest), slab)
    # What was planned is what is expected; what is allowed is the limit, but for the last slab.
    limit = min(request.spare_bytes, request.budget(request.table.memory_budget, math.inf))
    return MemoryStack(largest, slab_of(largest), slab, limit + slab_of(largest))


def slab(size: int) -> np.ndarray:
    """Memory on huge pages, first touched by the threads that will write to it."""
    numbers = padded(size) // 4
    return allocate((1, 1, numbers), np.dtype(np.float32)).reshape(numbers).view(np.uint8)


def _stacked(request: HistoryRequest, stack: Stack, encoding: Encoding | None) -> StackedHistory:
    worker = request.threads.background_thread("snapshots") if encoding is not None and encoding.beside else None
    return StackedHistory(stack, encoding, request.snapshots, request.wavefield.image_shape, request.dtype, worker)
