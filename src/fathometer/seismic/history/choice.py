"""How the history of a run is kept: the choice of store, encoding and checkpoints for what the ranks have and need."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from fathometer.base.errors import InputError
from fathometer.seismic.history.encoding import EXPECTED
from fathometer.seismic.history.schedule import MOST_WORK, Schedule
from fathometer.seismic.survey import HistoryTable
from fathometer.storage.scratch.stack import SLAB_BYTES, slab_of

StoreName = Literal["memory", "disk", "checkpoint"]

# Plain snapshots in memory beside the records: those that are (being) encoded or decoded, one of them again where it is
# examined, and a record whose size is not known beforehand.
PLAIN = {"float32": 0, "float16": 2, "int8": 2, "zfp": 4, "wavelet": 4}
STATE_PRICE = 2.0  # imaging steps that writing and reading a state is worth, where that goes to the disk
LOSSY_CHOICE = "int8"  # that "auto" may take


@dataclass(frozen=True)
class Share:
    """What one rank has for the history, and needs for it, in bytes.

    Attributes:
        spare: memory that is left. budget: memory that records and states may take of it, inf: all. disk: the same of
            the disk. snapshot: a plain one. records: encoded ones (encoding.record_bytes). state: a saved one.
            twin: the second wavefield that checkpoints need.
    """

    spare: float
    budget: float
    disk: float
    snapshot: int
    records: Mapping[str, int]
    state: int
    twin: int

    @property
    def memory(self) -> float:
        """What records may take."""
        return min(self.spare, self.budget)

    @property
    def beside_twin(self) -> float:
        """What records and states may take where there is a second wavefield."""
        return min(self.spare - self.twin, self.budget)


@dataclass(frozen=True)
class Rates:
    """Seconds of the slowest rank for one imaging step and for encoding and decoding one snapshot; bytes a second that
    each rank's disk takes and gives while all ranks use it."""

    imaging_step_seconds: float
    encoding_seconds: float
    disk_bytes_per_second: float


@dataclass(frozen=True)
class HistoryChoice:
    """How the history is kept; the same on all ranks.

    Attributes:
        snapshots: of a shot; kept: at the same time, at most. states: saved at the same time, at most.
        room: of both together, in snapshots.
        memory_bytes, disk_bytes: of the rank that takes most; a second wavefield is not in them. twin: there is one.
        reason: for people. fits: not so only in a plan of what a run would refuse, for the reason said.
        extra_seconds: what it is expected to add to a shot; None where nothing was measured.
    """

    store: StoreName
    encoding: str
    states_on_disk: bool
    snapshots: int
    kept: int
    states: int
    room: int
    memory_bytes: int
    disk_bytes: int = 0
    schedule: Schedule | None = None
    recomputed: int = 0
    reason: str = ""
    fits: bool = True
    extra_seconds: float | None = None

    @property
    def twin(self) -> bool:
        return self.store == "checkpoint" and self.kept < self.snapshots

    def __str__(self) -> str:
        what = f"{self.kept} of {self.snapshots} snapshots" if self.kept < self.snapshots else f"{self.kept} snapshots"
        where = {"memory": "in memory", "disk": "on disk", "checkpoint": "in memory"}[self.store]
        parts = [f"history: {what} {where} as {self.encoding}, {self.memory_bytes / 1e9:.3g} GB a rank"]
        if self.disk_bytes:
            parts.append(f"{self.disk_bytes / 1e9:.3g} GB on disk")
        if self.store == "checkpoint":
            parts.append(
                f"{self.states} saved states{' on disk' * self.states_on_disk}, "
                f"{100 * self.recomputed / max(1, self.snapshots - 1):.0f} % of the source wavefield computed again"
            )
        return ", ".join(parts) + (f" ({self.reason})" if self.reason else "")

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "store": self.store,
            "encoding": self.encoding,
            "states": "disk" if self.states_on_disk else "memory",
            "snapshots": self.snapshots,
            "most_snapshots_kept": self.kept,
            "most_states_saved": self.states,
            "predicted_memory_bytes": self.memory_bytes,
            "predicted_disk_bytes": self.disk_bytes,
            "recomputed_imaging_steps": self.recomputed,
            "reason": self.reason,
        }


def choose_history(
    wanted: HistoryTable,
    snapshots: int,
    shares: Sequence[Share],
    rates: Callable[[], Rates],
    where: str,
    most_work: float = MOST_WORK,
) -> HistoryChoice:
    """The way that the survey asks for, or with "auto" the one that adds the least time among those that fit.

    rates: called once, where the choice depends on them. most_work: of schedule.Schedule. Raises InputError, beginning
    with `where`, where nothing fits.
    """
    encodings = [wanted.encoding] if wanted.encoding != "auto" else ["float32", LOSSY_CHOICE]
    stores: Sequence[StoreName] = [wanted.store] if wanted.store != "auto" else ["memory", "disk", "checkpoint"]
    choosing = len(encodings) * len(stores) > 1
    found: list[HistoryChoice] = []
    lacks: list[str] = []
    for encoding in encodings:
        for store in stores:
            one = _fitting(wanted, snapshots, shares, store, encoding, most_work)
            if isinstance(one, str):
                lacks.append(one)
            elif not choosing or (store == "memory" and encoding == encodings[0]):
                return replace(one, reason="all fit" if choosing else "")
            else:
                found.append(one)
    if not found:
        raise InputError(
            f"{where}: [history]: {'; '.join(lacks)}; use more hosts, a larger [imaging] every, another store or "
            "encoding, or larger budgets"
        )
    known = rates()
    priced = [replace(one, extra_seconds=_extra(one, shares, known)) for one in found]
    best = min(priced, key=lambda one: one.extra_seconds or 0.0)
    told = [f"{one.store} with {one.encoding} adds {one.extra_seconds:.2g} s a shot" for one in priced]
    return replace(best, reason="; ".join([*lacks, *told]))


def _fitting(
    wanted: HistoryTable, snapshots: int, shares: Sequence[Share], store: StoreName, encoding: str, most_work: float
) -> HistoryChoice | str:
    """One way, or why it does not fit."""

    def record(share: Share) -> int:
        return share.records[encoding]

    def beside(share: Share) -> int:
        return PLAIN[encoding] * share.snapshot

    name = f"{store} with {encoding}"
    if store == "memory":
        loose = SLAB_BYTES if encoding in EXPECTED else 0  # the last slab is not full
        needs = [snapshots * record(s) + beside(s) + loose for s in shares]
        lack = _lack(name, "memory", needs, [s.memory for s in shares])
        return lack or HistoryChoice(store, encoding, False, snapshots, snapshots, 0, snapshots, max(needs))
    if store == "disk":
        slabs = [2 * slab_of(s.snapshot if encoding in EXPECTED else record(s)) + beside(s) for s in shares]
        needs = [snapshots * record(s) for s in shares]
        lack = _lack(name, "memory", slabs, [s.memory for s in shares]) or _lack(
            name, "disk", needs, [s.disk for s in shares]
        )
        return lack or HistoryChoice(
            store, encoding, False, snapshots, snapshots, 0, snapshots, max(slabs), max(needs), None, 0, ""
        )

    rooms = [(s.beside_twin - beside(s)) / record(s) for s in shares if s.snapshot]
    room = math.floor(min(rooms, default=snapshots))
    state = max((math.ceil(s.state / record(s)) for s in shares if s.snapshot), default=1)
    if room < 1:
        needs = [beside(s) + record(s) for s in shares]
        return _lack(name, "memory beside a second wavefield", needs, [s.beside_twin for s in shares])
    on_disk = wanted.states == "disk"
    schedule = Schedule(snapshots, room, 0 if on_disk else state, STATE_PRICE * on_disk, most_work)
    cost = schedule.cost()
    taken = [cost.most_room * record(s) + beside(s) for s in shares]
    if not on_disk:  # ranks whose cells are all padding have states, but no snapshots
        taken = [t if s.snapshot else cost.most_states * s.state for t, s in zip(taken, shares, strict=True)]
    needs = [cost.most_states * s.state if on_disk else 0 for s in shares]
    lack = _lack(name, "memory beside a second wavefield", taken, [s.beside_twin for s in shares])
    return (
        lack
        or _lack(name, "disk", needs, [s.disk for s in shares])
        or HistoryChoice(
            store,
            encoding,
            on_disk,
            snapshots,
            cost.most_kept,
            cost.most_states,
            cost.most_room,
            max(taken),
            max(needs),
            schedule,
            cost.advances,
        )
    )


def _lack(name: str, what: str, needs: Sequence[float], have: Sequence[float]) -> str:
    """Why some rank has too little; empty where all have enough."""
    need, has = max(zip(needs, have, strict=True), key=lambda pair: pair[0] - pair[1])
    if need <= has:
        return ""
    told = f"{need / 1e9:.3g} GB", f"{has / 1e9:.3g} GB"
    if told[0] == told[1]:
        told = f"{need:.0f} bytes", f"{has:.0f} bytes"
    return f"{name} needs {told[0]} of {what} a rank, of {told[1]}"


def _extra(one: HistoryChoice, shares: Sequence[Share], rates: Rates) -> float:
    """Seconds that it adds to a shot."""
    computing = one.snapshots * rates.imaging_step_seconds  # of each of the two loops
    seconds = 0.0 if one.encoding == "float32" else one.snapshots * rates.encoding_seconds
    if one.store == "disk":
        moved = max(one.snapshots * s.records[one.encoding] for s in shares)
        seconds += 2 * max(0.0, moved / rates.disk_bytes_per_second - computing)
    return seconds + one.recomputed * rates.imaging_step_seconds
