"""The section [parallel]: how the ranks share the work."""

from typing import Annotated, Literal

from annotated_types import Gt, Le, Len

from fathometer.config.table import Table, key
from fathometer.config.types import Count, Loose
from fathometer.parallel.memory_budget import MEMORY_SHARE


class ParallelTable(Table):
    """How the ranks share the work."""

    ranks_per_shot: Literal["auto", "all"] | Count = key(
        "ranks that work on one shot; auto: as few as the memory allows, so that groups of ranks have shots of their "
        "own",
        "ranks",
        "auto",
    )
    memory_budget: Annotated[float, Gt(0), Le(1)] = key(
        "most of a host's memory that the run may take, as a share of all of it", "", MEMORY_SHARE
    )
    decomposition: Literal["auto"] | Annotated[tuple[Count, ...], Len(2, 3), Loose] = key(
        "parts along x, y, z (2D: x, z); auto: the fewest halo bytes", "ranks", "auto"
    )
