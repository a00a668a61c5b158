"""The predicted cost of a time migration on one layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fathometer.plan.prediction import Prediction


@dataclass(frozen=True)
class TimePrediction(Prediction):
    """The cost of one layout.

    Attributes:
        ranks_per_block: of a group. why: they are so many. threads: of a rank.
        disk_bytes: results and the journal, at most.
    """

    ranks_per_block: int
    why: str
    threads: int
    disk_bytes: float

    @property
    def groups(self) -> int:
        """Of ranks, each with blocks of its own."""
        return self.ranks // self.ranks_per_block

    @property
    def way(self) -> str:
        """How the ranks share the work, by the word of [time_migration] work; "": one rank, or both."""
        if self.ranks == 1 or 1 < self.ranks_per_block < self.ranks:
            return ""
        return "tiles" if self.ranks_per_block == self.ranks else "blocks"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, SI units."""
        layout = {
            "nodes": self.nodes,
            "ranks": self.ranks,
            "groups": self.groups,
            "ranks_per_block": self.ranks_per_block,
            "ranks_per_block_why": self.why,
            "ranks_per_node": self.ranks_per_node,
            "threads": self.threads,
        }
        return layout | self.totals() | {"disk_bytes": self.disk_bytes}
