"""The predicted cost of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fathometer.plan.phase import Phase


@dataclass(frozen=True)
class Prediction:
    """The cost of one layout, which plan/table.py shows.

    Attributes:
        ranks: all of them, on nodes with equally many. memory_bytes: of the largest rank, by part.
        kernel: names of the phases that the run is there for.
    """

    nodes: int
    ranks: int
    phases: tuple[Phase, ...]
    memory_bytes: Mapping[str, int]
    kernel: tuple[str, ...]

    @property
    def ranks_per_node(self) -> int:
        return self.ranks // self.nodes

    @property
    def seconds(self) -> float:
        """Of the whole run."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def kernel_seconds(self) -> float:
        """Of what the run is there for."""
        return sum(phase.seconds for phase in self.phases if phase.name in self.kernel)

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
        return {"nodes": self.nodes, "ranks": self.ranks, "ranks_per_node": self.ranks_per_node} | self.totals()

    def totals(self) -> dict[str, Any]:
        """Its seconds and its memory, in all and by part."""
        return {
            "total_seconds": self.seconds,
            "kernel_seconds": self.kernel_seconds,
            "phases": [
                {"phase": p.name, "seconds": p.seconds, "bytes": p.bytes, "calls": p.calls} for p in self.phases
            ],
            "memory_bytes_per_rank": self.rank_bytes,
            "memory_bytes": dict(self.memory_bytes),
        }
