"""The section [history]: storage of the source wavefield between the source loop and the receiver loop."""

from typing import Annotated, Literal

from annotated_types import Ge, Le

from fathometer.config.quantities import Bytes
from fathometer.config.table import Table, key
from fathometer.config.types import FolderName


class HistoryTable(Table):
    """Storage of the source wavefield between the source loop and the receiver loop."""

    store: Literal["auto", "card", "memory", "disk", "checkpoint"] = key(
        "where snapshots are stored; card: on the graphics card that takes the time steps; checkpoint: some, with "
        "states from which the others are recomputed; auto: the card, memory, or what adds the least time",
        "",
        "auto",
    )
    encoding: Literal["auto", "float32", "float16", "int8", "zfp", "wavelet"] = key(
        "encoding of stored snapshots; float32: lossless (float64 stays float64), all others lossy; auto: int8 where "
        "float32 does not fit into memory and int8 adds less time",
        "",
        "float32",
    )
    tolerance: Annotated[float, Ge(1e-15), Le(0.5)] = key(
        "of zfp and wavelet: largest error of a cell, relative to the snapshot's peak", "", 1e-3
    )
    memory_budget: Literal["auto"] | Bytes = key(
        "memory of a host for snapshots and saved states; auto: all that is left", "bytes", "auto"
    )
    disk_budget: Literal["auto"] | Bytes = key(
        "disk space of a host for them; auto: nine tenths of the free space", "bytes", "auto"
    )
    directory: FolderName | None = key(
        "folder of snapshots and states on disk, best on a local disk of the host; relative to the survey file; left "
        "out: the folder of the results",
        "",
        None,
    )
    direct: bool = key("disk input and output of snapshots bypasses the page cache", "", False)
    states: Literal["memory", "disk"] = key("where checkpoint saves states", "", "memory")
