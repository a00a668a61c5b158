"""The predicted cost of a run on one layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fathometer.parallel.decomposition import Index3
from fathometer.plan.phase import Phase
from fathometer.seismic.history.choice import HistoryChoice
from fathometer.seismic.setup.run_record import KERNEL


@dataclass(frozen=True)
class Prediction:
    """The cost of one layout.

    Attributes:
        ranks: of a shot, along x, y, z. groups: of so many ranks. ranks_per_node, threads: of a rank.
        every: time steps from snapshot to snapshot.
        memory_bytes: of the largest rank, by part. halo_bytes_per_step: sent by all ranks together.
        disk_bytes: results, the history, and a migration's journal, at most. history: None for modelling.
        model_halo_bytes, trace_halo_bytes: what would be read twice if each rank read the halo of its part as well
            (codes that keep the model's halo do; this one reads own parts of the model alone).
    """

    nodes: int
    ranks: Index3
    groups: int
    ranks_per_node: int
    threads: int
    every: int
    phases: tuple[Phase, ...]
    memory_bytes: dict[str, int]
    disk_bytes: float
    halo_bytes_per_step: int
    model_halo_bytes: int
    trace_halo_bytes: int
    history: HistoryChoice | None = None

    @property
    def seconds(self) -> float:
        """Of the whole run."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def kernel_seconds(self) -> float:
        """Of the time steps, exchanges included."""
        return sum(phase.seconds for phase in self.phases if phase.name in KERNEL)

    def with_computed(self, shares: Mapping[str, float]) -> Prediction:
        """The same where only a share of the cells is computed in the loops of a shot, by their names."""
        names = {"source recomputation": "source"} | {f"{loop} propagation": loop for loop in shares}
        phases = [replace(p, seconds=p.seconds * shares.get(names.get(p.name, ""), 1.0)) for p in self.phases]
        return replace(self, phases=tuple(phases))

    @property
    def rank_bytes(self) -> int:
        """Memory of the largest rank."""
        return sum(self.memory_bytes.values())

    @property
    def node_bytes(self) -> int:
        """Memory of a node whose ranks all need as much as the largest."""
        return self.rank_bytes * self.ranks_per_node

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, SI units."""
        return {
            "nodes": self.nodes,
            "ranks": self.ranks,
            "groups": self.groups,
            "ranks_per_node": self.ranks_per_node,
            "threads": self.threads,
            "imaging_step": self.every,
            "total_seconds": self.seconds,
            "kernel_seconds": self.kernel_seconds,
            "phases": [
                {"phase": p.name, "seconds": p.seconds, "bytes": p.bytes, "calls": p.calls} for p in self.phases
            ],
            "memory_bytes_per_rank": self.rank_bytes,
            "memory_bytes": self.memory_bytes,
            "disk_bytes": self.disk_bytes,
            "history": self.history.as_dict() if self.history is not None else None,
            "halo_bytes_per_step": self.halo_bytes_per_step,
            "model_halo_bytes": self.model_halo_bytes,
            "trace_halo_bytes": self.trace_halo_bytes,
        }
