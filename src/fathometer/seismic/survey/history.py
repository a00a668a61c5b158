"""The section [history]: where the source wavefield is kept between the two loops, and how."""

from typing import Annotated, Literal

from annotated_types import Ge, Le

from fathometer.config.table import Table, key
from fathometer.config.types import FolderName, Positive


class HistoryTable(Table):
    """Where the source wavefield is kept between the two loops, and how."""

    store: Literal["auto", "memory", "disk", "checkpoint"] = key(
        "where its snapshots are kept; checkpoint: some, and what the others are computed from again; auto: memory, or "
        "what adds the least time",
        "",
        "auto",
    )
    encoding: Literal["auto", "float32", "float16", "int8", "zfp", "wavelet"] = key(
        "how snapshots are kept; float32: as they are (also float64), all others lose something; auto: int8 where "
        "float32 does not fit into memory and that adds less time",
        "",
        "float32",
    )
    tolerance: Annotated[float, Ge(1e-15), Le(0.5)] = key(
        "of zfp and wavelet: the largest error of a cell, relative to the snapshot's peak", "", 1e-3
    )
    memory_budget: Literal["auto"] | Positive = key(
        "memory of a host for snapshots and saved states; auto: what is left", "bytes", "auto"
    )
    disk_budget: Literal["auto"] | Positive = key(
        "the same of the disk of a host; auto: nine tenths of what is free", "bytes", "auto"
    )
    directory: FolderName | None = key(
        "folder of what is kept on disk, best on a disk of the host's own; relative to the survey file; left out: the "
        "folder of the results",
        "",
        None,
    )
    direct: bool = key("snapshots go to the disk and back without the page cache", "", False)
    states: Literal["memory", "disk"] = key("where checkpoint saves states", "", "memory")
