"""Sections that the input files of several applications have in common.

Their keys and meanings are those of the published input files; `imaging` and its like stay for that reason.
"""

from typing import Literal

from fathometer.config.table import Table, key
from fathometer.config.types import Count


class ThreadsTable(Table):
    """Threads of a rank, task by task: the best number differs, and hardware threads of a core help some only."""

    propagate: Literal["auto"] | Count = key("time steps; auto: all of the rank's", "threads", "auto")
    imaging: Literal["auto"] | Count = key(
        "snapshots and images outside the time steps; auto: all of the rank's", "threads", "auto"
    )
    io: Literal["auto"] | Count = key(
        "traces on their way from and to files; auto: all of the rank's", "threads", "auto"
    )


class TuningTable(Table):
    """How time steps are grouped into sweeps through the memory: of no consequence for the results."""

    search: Literal["auto", "always", "never"] = key(
        "find what is fastest; auto: by trials in the run's own steps; always: by a search before; never: not at all",
        "",
        "auto",
    )
    time_depth: Literal["auto"] | Count = key("time steps a sweep; 1: plain sweeps", "time steps", "auto")
    block: Literal["auto"] | Count = key("width in x of a block that takes these steps in one sweep", "cells", "auto")
    tile: Literal["auto", "diamonds"] | Count = key(
        "width in y of the strips that threads go along; 2D: in x; diamonds: of time_depth steps up and as many down",
        "cells",
        "auto",
    )
    team: Literal["auto"] | Count = key("threads that share a strip", "threads", "auto")
