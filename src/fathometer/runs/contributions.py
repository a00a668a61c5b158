"""Contributions of tasks to the results, as files of the journal: windows of volumes, until they are summed
(summation.py), and arrays that stand side by side, until the results are written."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, NotFiniteError
from fathometer.grid.grid import Grid
from fathometer.grid.volume_info import volume_info
from fathometer.parallel.collectives import allreduce, collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.runs.checksum import MODULUS, checksum, checksum_of_bytes
from fathometer.runs.journal import Contribution, Journal, VolumePart
from fathometer.storage import atomic
from fathometer.storage.reading import reading
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import write_volume

UNFLUSHED = Strategy.of("posix-shared:sync=none")  # `flush` flushes the files later


@dataclass(frozen=True, eq=False)
class Window:
    """A window of the whole volumes with the values of this rank's block.

    Attributes:
        grid: of the window; grid.first: index of its first cell in the whole grid.
        start: index of this rank's first cell in the window.
        volumes: this rank's block by the name of the volume, (nx, ny, nz), float32 or float64.
        input: hash of what the task has read, the same on all ranks; "": nothing of its own.
    """

    grid: Grid
    start: Index3
    volumes: Mapping[str, np.ndarray]
    input: str = ""


@dataclass(frozen=True, eq=False)
class Kept:
    """What a task leaves for itself: arrays by name, which count on the first rank of its group alone."""

    arrays: Mapping[str, np.ndarray]


def contribute(
    journal: Journal,
    group: int,
    task: int,
    result: Window | Kept,
    seconds: float,
    comm: MPI.Intracomm,
) -> Contribution:
    """Collective. Write the contribution of a task into files, then its line into the journal.

    This order makes the journal safe against the death of processes; `flush` makes it safe against that of a host.

    Args:
        group: number of the group of ranks. seconds: duration of the task.

    Raises NotFiniteError, or FathometerError where a file cannot be written, on all ranks.
    """
    nothing = (0, 0, 0)
    if isinstance(result, Kept):
        contribution = Contribution(task, nothing, nothing, _keep(journal, task, result, comm), seconds, comm.size)
    else:
        grid, parts = result.grid, _write_window(journal, task, result, comm)
        x, y, z = (a + n for a, n in zip(grid.first, grid.shape, strict=True))
        contribution = Contribution(task, grid.first, (x, y, z), parts, seconds, comm.size, result.input)
    with collective_errors(comm):
        if comm.rank == 0:
            journal.finish_task(group, contribution)
    return contribution


def _keep(journal: Journal, task: int, result: Kept, comm: MPI.Intracomm) -> dict[str, VolumePart]:
    parts: dict[str, VolumePart] = {}
    with collective_errors(comm):
        for name, values in result.arrays.items() if comm.rank == 0 else ():
            peak = peak_of(values)
            if not math.isfinite(peak):
                raise _not_finite(journal, task, name)
            path, head = journal.contribution(task, name), io.BytesIO()
            values = np.ascontiguousarray(values)
            np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(values))
            data = head.getvalue(), atomic.octets(values)
            parts[name] = VolumePart(peak, checksum_of_bytes(data))
            with ledger.file(file_kind(journal), "write"), atomic.writing(path), atomic.Parts(sync=False) as files:
                part = files.create(atomic.NewFile(path, data[0], len(data[1])))
                with ledger.io(bytes=len(data[1])), part.open("r+b") as file:
                    atomic.write_at(file.fileno(), data[1], len(data[0]))
    return parts


def kept_array(journal: Journal, task: int, name: str) -> np.ndarray:
    """An array that a finished task has kept, on the calling rank. Raises FathometerError where it is no longer what
    was written."""
    path = journal.contribution(task, name)
    with ledger.file(file_kind(journal), "read"), reading(path), ledger.io(bytes=path.stat().st_size):
        content = path.read_bytes()
    if checksum_of_bytes([content]) != journal.done[task].parts[name].checksum:
        raise FathometerError(f"{path}: its values have changed since they were written; --resume computes them again")
    return np.asarray(np.lib.format.read_array(io.BytesIO(content)))


def _not_finite(journal: Journal, task: int, name: str) -> NotFiniteError:
    kind = journal.kind
    return NotFiniteError(f"{kind.task} {task + 1}: the {name} is not finite: {kind.not_finite}")


def _write_window(journal: Journal, task: int, window: Window, comm: MPI.Intracomm) -> dict[str, VolumePart]:
    grid, start = window.grid, window.start
    parts: dict[str, VolumePart] = {}
    for name, values in window.volumes.items():
        peak = float(allreduce(comm, peak_of(values), "MAX"))
        if not math.isfinite(peak):
            raise _not_finite(journal, task, name)
        parts[name] = VolumePart(peak, allreduce(comm, checksum(values, grid.shape, start), "SUM") % MODULUS)
        info = volume_info(grid, values.dtype, "")
        block = values.reshape([values.shape[a] for a in grid.axes])
        with ledger.file(file_kind(journal), "write"):
            path = journal.contribution(task, name)
            write_volume(path, info, block, [start[a] for a in grid.axes], comm, UNFLUSHED)
    return parts


def file_kind(journal: Journal) -> str:
    """The kind of file, in the ledger, of contributions and their sums."""
    return f"{journal.kind.contribution}s"


def peak_of(values: np.ndarray) -> float:
    """The largest magnitude; infinity where a value is not finite, since MPI_MAX may lose a NaN."""
    peak = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
    return peak if math.isfinite(peak) else math.inf


def flush(journal: Journal, group: int, contributions: Sequence[Contribution], comm: MPI.Intracomm) -> None:
    """Collective. Flush the files of these contributions to the device, then write that into the journal."""
    with collective_errors(comm):
        for contribution in contributions:
            for name in contribution.parts:
                path = journal.contribution(contribution.task, name)
                with atomic.writing(path), ledger.file(file_kind(journal), "write"), ledger.flush():
                    atomic.flush_file(path)
    with collective_errors(comm):
        if comm.rank == 0:
            atomic.flush_folder(journal.folder)
            journal.flushed(group)
