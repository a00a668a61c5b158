"""Options of `fathometer plan` on the run that is planned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base import option_types
from fathometer.base.options import option

if TYPE_CHECKING:
    from fathometer.parallel.decomposition import Index3


@dataclass(frozen=True)
class PlanOptions:
    """What is asked for; None: the plan's choice. An application heeds those of its `plan_options`.

    within: most seconds. velocities: lowest and highest, m/s. like: the record of a short run.
    """

    ranks: int | None = option(
        "ranks of the run (the recommended ones)", type=option_types.count, default=None, metavar="N"
    )
    nodes: int | None = option("nodes to run on (as few as serve)", type=option_types.count, default=None, metavar="N")
    decomposition: Index3 | None = option(
        "how ranks cut the grid; PX,PZ in 2D", type=option_types.grid, default=None, metavar="PX,PY,PZ"
    )
    within: float | None = option(
        "the fewest nodes that need at most 30m, 8h", type=option_types.duration, default=None, metavar="TIME"
    )
    velocities: tuple[float, float] | None = option(
        "m/s, assumed in place of the model's values", type=option_types.velocities, default=None, metavar="LOW,HIGH"
    )
    migrate: bool = option("a geometry too: as if its shots had been recorded", default=False)
    migrate_time: bool = option("the time migration of recorded gathers", default=False)
    model: bool = option("the modelling of recorded gathers, not their migration", default=False)
    history: str | None = option(
        "where snapshots are assumed to be kept (as the survey says; files: on disk, the time steps waiting, as "
        "older codes do it)",
        default=None,
        choices=("memory", "disk", "checkpoint", "files"),
    )
    iterations: tuple[float, ...] | None = option(
        "an ocean: of conjugate gradients a step; a reactive flow: of Newton's method a step, and linear ones for "
        "each (4,10)",
        type=option_types.iterations,
        default=None,
        metavar="N[,N]",
    )
    like: Path | None = option(
        "the same, as in the record of a short run; a plasma: its steps", type=Path, default=None, metavar="RUN.json"
    )
