"""The predicted cost of a run in time steps on one layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fathometer.parallel.decomposition import Index3
from fathometer.plan.prediction import Prediction
from fathometer.seismic.history.choice import HistoryChoice


@dataclass(frozen=True)
class WavePrediction(Prediction):
    """The cost of one layout.

    Attributes:
        shot_ranks: of a shot, along x, y, z. groups: of so many ranks. threads: of a rank.
        every: time steps from snapshot to snapshot. halo_bytes_per_step: sent by all ranks together.
        disk_bytes: results, the history, and a migration's journal, at most. history: None for modelling.
        card_bytes: of the rank that takes most of a graphics card, by part; none: processors take the time steps.
        card_room: bytes of a card that a rank may take.
        model_halo_bytes, trace_halo_bytes: what would be read twice if each rank read the halo of its part as well
            (codes that keep the model's halo do; this one reads own parts of the model alone).
    """

    shot_ranks: Index3
    groups: int
    threads: int
    every: int
    disk_bytes: float
    halo_bytes_per_step: int
    model_halo_bytes: int
    trace_halo_bytes: int
    history: HistoryChoice | None = None
    card_bytes: Mapping[str, int] = field(default_factory=dict)
    card_room: float = 0.0

    @property
    def fits_card(self) -> bool:
        """Whether what is to be on a graphics card finds room there."""
        return sum(self.card_bytes.values()) <= self.card_room

    def with_computed(self, shares: Mapping[str, float]) -> WavePrediction:
        """The same where only a share of the cells is computed in the loops of a shot, by their names."""
        names = {"source recomputation": "source"} | {f"{loop} propagation": loop for loop in shares}
        phases = [replace(p, seconds=p.seconds * shares.get(names.get(p.name, ""), 1.0)) for p in self.phases]
        return replace(self, phases=tuple(phases))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, SI units."""
        layout = {
            "nodes": self.nodes,
            "ranks": self.shot_ranks,
            "groups": self.groups,
            "ranks_per_node": self.ranks_per_node,
            "threads": self.threads,
            "imaging_step": self.every,
        }
        further = {
            "disk_bytes": self.disk_bytes,
            "history": self.history.as_dict() if self.history is not None else None,
            "halo_bytes_per_step": self.halo_bytes_per_step,
            "model_halo_bytes": self.model_halo_bytes,
            "trace_halo_bytes": self.trace_halo_bytes,
            "card_bytes_per_rank": sum(self.card_bytes.values()),
            "card_bytes": dict(self.card_bytes),
        }
        return layout | self.totals() | further
