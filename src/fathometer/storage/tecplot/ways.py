"""Ways of writing a Tecplot file by MPI-IO, as a published study compared them; all of them give the same bytes.

    header   elements: a call for each value of it         types: one structure datatype for all of them
    file     kept: opened once                             step: for each zone     call: for each call
    data     offsets: a call for each row of nodes, copied out of the solver's array, at an offset that a loop counts
             memory: a derived datatype of memory leaves halos out and picks one of the interleaved variables
             views: the same with a derived datatype of the file, so that a variable is one call
             packed: copied into a contiguous buffer first, then as `views`
    calls    independent: each rank for itself             collective: all ranks together

Fewer and larger calls are what the file system sees; which of them is fastest depends on the MPI library: a datatype of
memory with pieces of 4 bytes is copied by MPI element by element, packing by NumPy's loops is faster. See "Optimisation
of I/O", Crosby, Brook et al., Cray User Group 2011, for a code of 3,000 processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Header = Literal["types", "elements"]
Keeping = Literal["kept", "step", "call"]
Data = Literal["packed", "views", "memory", "offsets"]
Calls = Literal["collective", "independent"]


@dataclass(frozen=True)
class Way:
    """How a file is written. hints: of MPI-IO, such as striping_factor, cb_nodes."""

    header: Header = "types"
    file: Keeping = "kept"
    data: Data = "packed"
    calls: Calls = "collective"
    hints: tuple[tuple[str, str], ...] = ()
    sync: bool = True
