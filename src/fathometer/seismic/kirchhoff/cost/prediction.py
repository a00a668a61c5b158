"""The predicted cost of a time migration on one layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fathometer.plan.phase import Phase

KERNEL = "migrate"


@dataclass(frozen=True)
class Prediction:
    """The cost of one layout.

    Attributes:
        ranks: of all groups. ranks_per_block: of a group. why: they are so many. threads: of a rank.
        memory_bytes: of the largest rank, by part. disk_bytes: results and the journal, at most.
    """

    nodes: int
    ranks: int
    ranks_per_block: int
    why: str
    threads: int
    phases: tuple[Phase, ...]
    memory_bytes: Mapping[str, int]
    disk_bytes: float

    @property
    def groups(self) -> int:
        """Of ranks, each with blocks of its own."""
        return self.ranks // self.ranks_per_block

    @property
    def ranks_per_node(self) -> int:
        return self.ranks // self.nodes

    @property
    def way(self) -> str:
        """How the ranks share the work, by the word of [time_migration] work; "": one rank, or both."""
        if self.ranks == 1 or 1 < self.ranks_per_block < self.ranks:
            return ""
        return "tiles" if self.ranks_per_block == self.ranks else "blocks"

    @property
    def seconds(self) -> float:
        """Of the whole run."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def kernel_seconds(self) -> float:
        """Of the sums over traces."""
        return sum(phase.seconds for phase in self.phases if phase.name == KERNEL)

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
            "ranks_per_block": self.ranks_per_block,
            "ranks_per_block_why": self.why,
            "ranks_per_node": self.ranks_per_node,
            "threads": self.threads,
            "total_seconds": self.seconds,
            "kernel_seconds": self.kernel_seconds,
            "phases": [
                {"phase": p.name, "seconds": p.seconds, "bytes": p.bytes, "calls": p.calls} for p in self.phases
            ],
            "memory_bytes_per_rank": self.rank_bytes,
            "memory_bytes": dict(self.memory_bytes),
            "disk_bytes": self.disk_bytes,
        }
