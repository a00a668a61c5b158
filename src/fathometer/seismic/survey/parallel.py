"""The section [parallel]: distribution of the work over ranks."""

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Len

from fathometer.config.table import Table, key
from fathometer.config.types import Count, Loose
from fathometer.parallel.memory_budget import MEMORY_SHARE


class ParallelTable(Table):
    """Distribution of the work over ranks."""

    ranks_per_shot: Literal["auto", "all"] | Count = key(
        "ranks that work on one shot; auto: as few as the memory allows, so that groups of ranks work on different "
        "shots",
        "ranks",
        "auto",
    )
    memory_budget: Annotated[float, Gt(0), Le(1)] = key(
        "largest fraction of a host's memory that the run may use", "", MEMORY_SHARE
    )
    patience: Annotated[float, Ge(1), Le(1e9)] = key(
        "time after which a rank that gives no sign of life, as one that was stopped or whose host is silent, ends the "
        "run; `--resume` goes on",
        "s",
        600.0,
    )
    processor: Literal["auto", "cpu", "gpu"] = key(
        "what takes the time steps of acoustic waves; gpu: a graphics card a rank; auto: such a card where its kernels "
        "were built (`make cuda`), one is there, and the run fits its memory. Results are the same, bit for bit",
        "",
        "auto",
    )
    decomposition: Literal["auto"] | Annotated[tuple[Count, ...], Len(2, 3), Loose] = key(
        "parts along x, y, z (2D: x, z); auto: along y, else the fewest halo bytes", "ranks", "auto"
    )
