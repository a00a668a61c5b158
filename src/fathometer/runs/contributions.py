"""Partial images: what a shot adds to the results, on disk until it is added up, and the sums of it (exact.py).

contribute   a group of ranks: the volumes of one shot, each rank its cells of the window
fold         a group of ranks: contributions and sums become one sum, so that they never fill the disk
total        all ranks: the sum of everything, each rank its cells of the whole image
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError, NotFiniteError
from fathometer.grid.grid import Grid
from fathometer.parallel.collectives import allgather, allreduce, collective_errors
from fathometer.parallel.decomposition import Index3, split
from fathometer.runs.checksum import MODULUS, checksum
from fathometer.runs.exact_sum import LIMBS, Limbs, add, raised, top_of, value
from fathometer.runs.journal import Entry, Journal, Part, require_access
from fathometer.runs.sum_file import SLAB_CELLS, SumFile
from fathometer.seismic.rtm.products import volume_info
from fathometer.storage import atomic
from fathometer.storage.volumes.boxes import Box, slabs
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume, write_volume

LATER = Strategy.of("posix-shared:sync=none")  # what is written is flushed by `flush`
KIND = "partial images"  # in the account of files


@dataclass(frozen=True)
class Terms:
    """What is to be added up: sums, and shots whose contributions are in none of them."""

    journal: Journal
    sums: tuple[SumFile, ...]
    entries: tuple[Entry, ...]

    @property
    def shots(self) -> list[int]:
        """All of them, in order."""
        return sorted([shot for one in self.sums for shot in one.shots] + [entry.shot for entry in self.entries])

    def top(self, volume: str) -> int:
        """The place that the largest term needs."""
        return max([one.tops[volume] for one in self.sums] + [top_of(e.parts[volume].peak) for e in self.entries])


def contribute(
    journal: Journal,
    group: int,
    shot: int,
    grid: Grid,
    start: Index3,
    volumes: Mapping[str, np.ndarray],
    seconds: float,
    comm: MPI.Intracomm,
) -> Entry:
    """Collective. Put what a shot adds to the results into files, then a line into the journal (group: its file).
    A process may die at any time; for a host that dies there is `flush`.

    grid: of the window; grid.first: its place in the whole model. start: this rank's first cell in the window.
    volumes: this rank's cells. Raises NotFiniteError, or FathometerError where the system refuses, on all ranks.
    """
    parts: dict[str, Part] = {}
    for name, values in volumes.items():
        peak = float(allreduce(comm, peak_of(values), "MAX"))
        if not math.isfinite(peak):
            raise NotFiniteError(f"shot {shot + 1}: the {name} is not finite: [wavelet] or traces are too strong")
        parts[name] = Part(peak, allreduce(comm, checksum(values, grid.shape, start), "SUM") % MODULUS)
        info = volume_info(grid, values.dtype, "")
        block = values.reshape([values.shape[a] for a in grid.axes])
        with ledger.file(KIND, "write"):
            path = journal.contribution(shot, name)
            write_volume(path, info, block, [start[a] for a in grid.axes], comm, LATER)
    x, y, z = (a + n for a, n in zip(grid.first, grid.shape, strict=True))
    entry = Entry(shot, grid.first, (x, y, z), parts, seconds, comm.size)
    with collective_errors(comm):
        if comm.rank == 0:
            journal.finish_shot(group, entry)
    return entry


def peak_of(values: np.ndarray) -> float:
    """The largest magnitude; infinity where a number is not finite, since a maximum over ranks may lose a NaN."""
    peak = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
    return peak if math.isfinite(peak) else math.inf


def flush(journal: Journal, group: int, entries: Sequence[Entry], comm: MPI.Intracomm) -> None:
    """Collective. Have the system put on the device what these shots add, which their lines tell from then on."""
    with collective_errors(comm):
        for entry in entries:
            for name in entry.parts:
                path = journal.contribution(entry.shot, name)
                with atomic.writing(path), ledger.file(KIND, "write"), ledger.flush():
                    atomic.flush_file(path)
    with collective_errors(comm):
        if comm.rank == 0:
            atomic.flush_folder(journal.folder)
            journal.flushed(group)


def fold(terms: Terms, names: Sequence[str], shape: Index3, path: Path, comm: MPI.Intracomm) -> SumFile:
    """Collective. Replace terms by one sum in the file `path`; what it was made of is removed.

    shape: of the whole image. Raises FathometerError on all ranks: a damaged term, a full disk.
    """
    planned = SumFile.planned(path, terms.shots, shape, {name: terms.top(name) for name in names})
    part: Path | None = None
    with collective_errors(comm), atomic.writing(path):
        if comm.rank == 0:
            part = atomic.create_part(path, planned.size)
    part = comm.bcast(part)
    assert part is not None
    try:
        found: dict[str, int] = {}
        with _verified(terms, comm) as checks, atomic.writing(path):
            handle = os.open(part, os.O_WRONLY)
            try:
                for name in names:
                    found[name] = _fold(planned, terms, name, comm, handle, checks)
                with ledger.flush():
                    os.fsync(handle)
            finally:
                os.close(handle)
        made = replace(planned, checksums={n: allreduce(comm, found[n], "SUM") % MODULUS for n in names})
        with collective_errors(comm), atomic.writing(path):
            if comm.rank == 0:
                _place(part, made)
    except BaseException:
        if comm.rank == 0:
            atomic.remove(part)
        raise
    with collective_errors(comm):
        if comm.rank == 0:
            for one in terms.sums:
                atomic.remove(one.path)
            for entry in terms.entries:
                for name in names:
                    atomic.remove(terms.journal.contribution(entry.shot, name))
    return made


def _place(part: Path, made: SumFile) -> None:
    handle = os.open(part, os.O_WRONLY)
    try:
        atomic.write_at(handle, memoryview(made.head), 0)
        with ledger.flush():
            os.fsync(handle)
    finally:
        os.close(handle)
    with ledger.flush():
        atomic.place(part, made.path)


def _fold(planned: SumFile, terms: Terms, name: str, comm: MPI.Intracomm, handle: int, checks: Checks) -> int:
    """This rank's planes of a volume; their checksum."""
    nx, ny, nz = planned.shape
    first, end = split(nx, comm.size, comm.rank)
    found = 0
    for lo, hi in _planes((first, 0, 0), (end, ny, nz)):
        limbs = _limbs(terms, name, planned.tops[name], (lo, hi), checks)
        for n, (limb, place) in enumerate(zip(limbs, planned.places(name, lo[0]), strict=True)):
            found += checksum(limb, (LIMBS * nx, ny, nz), (n * nx + lo[0], 0, 0))
            with ledger.file(KIND, "write"), ledger.io(bytes=limb.nbytes):
                atomic.write_at(handle, atomic.octets(limb), place)
    return found


def total(terms: Terms, name: str, box: Box, dtype: np.dtype[Any], comm: MPI.Intracomm) -> np.ndarray:
    """Collective. The sum of a volume on the cells of `box` (half-open, of the whole image); the boxes of all ranks
    must tile that. Raises FathometerError on all ranks: a damaged term."""
    (x, y, z), (x1, y1, z1) = box
    found = np.zeros((x1 - x, y1 - y, z1 - z), dtype)
    top = terms.top(name)
    with _verified(terms, comm) as checks:
        for lo, hi in _planes(*box):
            found[lo[0] - x : hi[0] - x] = value(_limbs(terms, name, top, (lo, hi), checks), top, dtype)
    return found


Checks = dict[tuple[str, str], int]  # (file or shot, volume): checksum of what was read of it
SPOILT = 1  # added to that of what cannot be read


@contextmanager
def _verified(terms: Terms, comm: MPI.Intracomm) -> Iterator[Checks]:
    """Collective. The block notes checksums of what it reads; a term whose own differs is removed, so that its shots
    are migrated again, and told."""
    checks: Checks = {}
    with collective_errors(comm):
        yield checks
    found: Checks = {}
    for one in allgather(comm, checks):
        for (term, name), some in one.items():
            _note(found, term, name, some)
    expected = {(one.path.name, name): value for one in terms.sums for name, value in one.checksums.items()}
    expected |= {(str(e.shot), name): part.checksum for e in terms.entries for name, part in e.parts.items()}
    wrong = sorted(key for key, checked in found.items() if checked != expected[key])
    with collective_errors(comm):
        if not wrong:
            return
        term, name = wrong[0]
        path = terms.journal.contribution(int(term), name) if term.isdecimal() else terms.journal.folder / term
        if comm.rank == 0:
            atomic.remove(path)
        raise FathometerError(f"{path}: its values have changed since they were written; --resume migrates them again")


def _planes(lo: Sequence[int], hi: Sequence[int]) -> Iterator[Box]:
    """Some whole planes at a time, as files of sums hold them, of a box that may be empty."""
    return slabs(lo, hi, max(SLAB_CELLS, (hi[1] - lo[1]) * (hi[2] - lo[2])))


def _limbs(terms: Terms, name: str, top: int, box: Box, checks: Checks) -> Limbs:
    """The sum of a volume on some cells."""
    lo, hi = box
    limbs = np.zeros((LIMBS, *(b - a for a, b in zip(lo, hi, strict=True))), np.int64)
    with ledger.file(KIND, "read"):
        for one in terms.sums:
            nx, ny, nz = one.shape
            with ledger.io(bytes=limbs.nbytes):
                read = np.ascontiguousarray(one.limbs(name, lo[0], hi[0])[:, :, lo[1] : hi[1], lo[2] : hi[2]])
            for n, limb in enumerate(read):
                place = n * nx + lo[0], lo[1], lo[2]
                _note(checks, one.path.name, name, checksum(limb, (LIMBS * nx, ny, nz), place))
            limbs += raised(read, one.tops[name], top)
        for entry in terms.entries:
            a, b = np.maximum(lo, entry.lo), np.minimum(hi, entry.hi)
            if (a < b).all():
                path = terms.journal.contribution(entry.shot, name)
                try:
                    values = _cells(path, a - entry.lo, b - entry.lo)
                except InputError:  # no longer a volume
                    require_access(path)
                    _note(checks, str(entry.shot), name, SPOILT)
                    continue
                _note(checks, str(entry.shot), name, checksum(values, entry.hi - np.array(entry.lo), a - entry.lo))
                x, y, z = (slice(n - m, k - m) for n, k, m in zip(a, b, lo, strict=True))
                add(limbs[:, x, y, z], top, values)
    return limbs


def _note(checks: Checks, term: str, name: str, more: int) -> None:
    checks[term, name] = (checks.get((term, name), 0) + more) % MODULUS


def _cells(path: Path, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Some cells of a contribution, (nx, ny, nz)."""
    with open_volume(path.name, path.parent) as volume:
        axes = (0, 2) if len(volume.info.shape) == 2 else (0, 1, 2)
        values = volume.read([int(lo[a]) for a in axes], [int(hi[a]) for a in axes])
    return values.reshape([int(n) for n in hi - lo])
