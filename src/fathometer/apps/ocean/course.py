"""What has happened in a run: steps, iterations, and the contents of tracers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fathometer.parallel.collectives import allgather

if TYPE_CHECKING:
    from mpi4py import MPI

COUNTS = ("iterations", "reductions", "halos")


@dataclass
class Course:
    """What has happened in a run and in those that it goes on from.

    Attributes:
        steps: taken. time: s. counts: of the barotropic solver, in this run. rows: of the time series.
        contents: of each tracer at the beginning, its unit x m³. gained: what came through the surface of this rank's
            blocks since (rank 0: and of all blocks in earlier runs).
        volume: at the beginning, m³. first: the step at which this run began.
        courant: the largest Courant number since the last row, as far as anybody has looked.
    """

    steps: int = 0
    time: float = 0.0
    counts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0.0))
    rows: list[dict[str, float]] = field(default_factory=list)
    contents: list[float] = field(default_factory=list)
    gained: list[float] = field(default_factory=list)
    volume: float = 0.0
    courant: float = 0.0
    first: int = 0

    def gained_by_all(self, comm: MPI.Intracomm) -> list[float]:
        """Collective. What came through the whole surface since the beginning."""
        return [math.fsum(parts) for parts in zip(*allgather(comm, self.gained), strict=True)]

    @property
    def own(self) -> int:
        """Steps of this run."""
        return self.steps - self.first
