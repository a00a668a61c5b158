"""How the history of a run is kept: what the ranks have and need, and what was chosen for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fathometer.base.formatting import bytes_in_words
from fathometer.seismic.history.encoding import PLAIN
from fathometer.seismic.history.schedule import Schedule


@dataclass(frozen=True)
class HistoryShare:
    """What one rank has for the history, and needs for it, in bytes.

    Attributes:
        spare: memory that is left. budget: memory that records and states may take of it, inf: all. disk: the same of
            the disk. snapshot: a plain one. records: encoded ones (encoding.record_bytes). state: a saved one.
            twin: the second wavefield that checkpoints need. card: of a graphics card, what is left; card_twin: what
            the second wavefield takes there.
    """

    spare: float
    budget: float
    disk: float
    snapshot: int
    records: Mapping[str, int]
    state: int
    twin: int
    card: int = 0
    card_twin: int = 0

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
    """How the history is kept, the choice of store, encoding and checkpoints; the same on all ranks.

    Attributes:
        snapshots: of a shot; kept: at the same time, at most. states: saved at the same time, at most.
        room: of both together, in snapshots.
        memory_bytes, disk_bytes, card_bytes: of the rank that takes most; a second wavefield is not in them.
        twin: there is one.
        reason: for people. fits: not so only in a plan of what a run would refuse, for the reason said.
        place: of the snapshots, for people. extra_seconds: what it is expected to add to a shot; None where nothing was
            measured.
    """

    store: str
    encoding: str
    states_on_disk: bool
    snapshots: int
    kept: int
    states: int
    room: int
    memory_bytes: int
    disk_bytes: int = 0
    card_bytes: int = 0
    schedule: Schedule | None = None
    recomputed: int = 0
    reason: str = ""
    fits: bool = True
    extra_seconds: float | None = None
    place: str = "in memory"

    @property
    def twin(self) -> bool:
        """Whether there is a second wavefield, from which snapshots are computed again."""
        return self.schedule is not None and self.kept < self.snapshots

    @property
    def several(self) -> bool:
        """Whether the propagation can write and read several snapshots in one advance: plain ones in memory."""
        return self.store != "disk" and not self.encoded

    @property
    def encoded(self) -> bool:
        """Whether snapshots are not kept as they are."""
        return self.encoding != PLAIN

    def __str__(self) -> str:
        what = f"{self.kept} of {self.snapshots} snapshots" if self.kept < self.snapshots else f"{self.kept} snapshots"
        held = bytes_in_words(self.memory_bytes + self.card_bytes)
        parts = [f"history: {what} {self.place} as {self.encoding}, {held} a rank"]
        if self.disk_bytes:
            parts.append(f"{bytes_in_words(self.disk_bytes)} on disk")
        if self.schedule is not None:
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
            "predicted_card_bytes": self.card_bytes,
            "recomputed_imaging_steps": self.recomputed,
            "reason": self.reason,
        }
