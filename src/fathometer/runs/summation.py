"""Reproducible sums of contributions, independent of their order (exact_sum.py).

fold     by a group of ranks: contributions and sums are replaced by one sum, which limits the disk space they take
total    by all ranks: the sum of all terms, each rank its block of the whole volume
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import remove_file
from fathometer.parallel.collectives import allgather, allreduce, collective_errors
from fathometer.parallel.decomposition import Index3, split
from fathometer.parallel.threads import over_planes
from fathometer.runs.checksum import MODULUS, checksum
from fathometer.runs.contributions import file_kind
from fathometer.runs.exact_sum import LIMBS, Limbs, add, top_of, value, with_top
from fathometer.runs.held_sums import HeldSums
from fathometer.runs.journal import Contribution, Journal
from fathometer.runs.journal_folder import require_access
from fathometer.runs.sum_file import SLAB_CELLS, SumFile
from fathometer.storage import atomic
from fathometer.storage.volumes.boxes import Box, slabs
from fathometer.storage.volumes.volume import open_volume

T = TypeVar("T")

SUMMING_BYTES = 64  # per cell of a slab: its limbs, those that are read, and temporary arrays of the addition


@dataclass(frozen=True)
class Terms:
    """Terms of a sum: earlier sums, and contributions that are in none of them.

    Attributes:
        held: sums of some of them that are in memory too, on one rank that has the whole volumes.
    """

    journal: Journal
    sums: tuple[SumFile, ...]
    contributions: tuple[Contribution, ...]
    held: HeldSums | None = None

    @property
    def inputs(self) -> dict[int, str]:
        """Hashes of what the tasks have read whose contributions are summed, by number."""
        of_sums = {t: input for s in self.sums for t, input in zip(s.tasks, s.inputs, strict=True)}
        return of_sums | {c.task: c.input for c in self.contributions}

    @cached_property
    def in_memory(self) -> HeldSums | None:
        """What need not be read; None where that is in a sum with something else, or more than the terms."""
        if self.held is None or not self.held.tasks <= self.inputs.keys():
            return None
        apart = all(self.held.tasks.issuperset(s.tasks) or self.held.tasks.isdisjoint(s.tasks) for s in self.sums)
        return self.held if apart else None

    @cached_property
    def all_in_memory(self) -> bool:
        """Whether nothing is to be read."""
        terms = [s.tasks for s in self.sums] + [(c.task,) for c in self.contributions]
        return not any(map(self.is_read, terms))

    def is_read(self, tasks: Iterable[int]) -> bool:
        """Whether a term with these tasks is to be read."""
        return self.in_memory is None or not self.in_memory.tasks.issuperset(tasks)

    def top(self, volume: str) -> int:
        """The top of the sum of a volume: the largest of its terms. FathometerError where one lacks the volume."""
        for sum_file in self.sums:
            if volume not in sum_file.tops:
                raise FathometerError(f"{sum_file.path}: has no sum of the {volume}; --overwrite begins anew")
        for c in self.contributions:
            if volume not in c.parts:
                path = self.journal.contribution(c.task, volume)
                raise FathometerError(f"{path}: the journal tells of no such part; --overwrite begins anew")
        return max(
            [sum_file.tops[volume] for sum_file in self.sums]
            + [top_of(c.parts[volume].peak) for c in self.contributions]
        )


def fold(terms: Terms, names: Sequence[str], shape: Index3, path: Path, comm: MPI.Intracomm) -> SumFile:
    """Collective. Sum the terms into the file `path`, then remove their files.

    names: of the volumes. shape: cells of the whole volume (nx, ny, nz). comm: the ranks that share the work.
    Raises FathometerError on all ranks: a damaged term, a full disk.
    """
    planned = SumFile.planned(path, terms.inputs, shape, {name: terms.top(name) for name in names})
    part: Path | None = None
    with collective_errors(comm), atomic.writing(path):
        if comm.rank == 0:
            part = atomic.create_part(path, planned.size)
    part = comm.bcast(part)
    assert part is not None
    try:
        checksums: dict[str, int] = {}
        with _verified(terms, comm) as checks, atomic.writing(path):
            handle = os.open(part, os.O_WRONLY)
            try:
                for name in names:
                    checksums[name] = _fold(planned, terms, name, comm, handle, checks)
                with ledger.flush():
                    os.fsync(handle)
            finally:
                os.close(handle)
        written = replace(planned, checksums={n: allreduce(comm, checksums[n], "SUM") % MODULUS for n in names})
        with collective_errors(comm), atomic.writing(path):
            if comm.rank == 0:
                _place(part, written)
    except BaseException:
        if comm.rank == 0:
            remove_file(part)
        raise
    with collective_errors(comm):
        if comm.rank == 0:
            for sum_file in terms.sums:
                remove_file(sum_file.path)
            for contribution in terms.contributions:
                for name in names:
                    remove_file(terms.journal.contribution(contribution.task, name))
    return written


def _place(part: Path, sum_file: SumFile) -> None:
    """Complete the unfinished file `part` by its head and rename it."""
    handle = os.open(part, os.O_WRONLY)
    try:
        atomic.write_at(handle, memoryview(sum_file.head), 0)
        with ledger.flush():
            os.fsync(handle)
    finally:
        os.close(handle)
    with ledger.flush():
        atomic.place(part, sum_file.path)


def _fold(planned: SumFile, terms: Terms, name: str, comm: MPI.Intracomm, handle: int, checks: Checks) -> int:
    """Write this rank's planes of the sum of a volume; returns their checksum."""
    nx, ny, nz = planned.shape
    first, end = split(nx, comm.size, comm.rank)

    def one(box: Box) -> int:
        checked, start = 0, box[0][0]
        limbs = _limbs(terms, name, planned.tops[name], box, checks)
        for n, (limb, place) in enumerate(zip(limbs, planned.places(name, start), strict=True)):
            checked += checksum(limb, (LIMBS * nx, ny, nz), (n * nx + start, 0, 0))
            with ledger.file(file_kind(terms.journal), "write"), ledger.io(bytes=limb.nbytes):
                atomic.write_at(handle, atomic.octets(limb), place)
        return checked

    return sum(_each(one, terms, (first, 0, 0), (end, ny, nz)))


def _each(one: Callable[[Box], T], terms: Terms, lo: Sequence[int], hi: Sequence[int]) -> list[T]:
    """one(slab) of a box, by several threads where all terms are in memory; else reading takes its turns."""
    boxes = list(_planes(lo, hi))
    if not terms.all_in_memory:
        return [one(box) for box in boxes]
    carried = ledger.carried(one)
    return over_planes(lambda n: carried(boxes[n]), len(boxes))


def summing_bytes(cells: int) -> int:
    """Bytes of memory that `total` takes on a rank in addition to its result of so many cells."""
    return SUMMING_BYTES * min(cells, SLAB_CELLS)


def total(terms: Terms, name: str, box: Box, dtype: np.dtype[Any], comm: MPI.Intracomm) -> np.ndarray:
    """Collective. The sum of a volume in `box`, (nx, ny, nz) of `dtype`.

    box: half-open, in cells of the whole volume; the boxes of all ranks tile it. Raises FathometerError on all ranks
    where a term is damaged.
    """
    (x, y, z), (x1, y1, z1) = box
    result = np.zeros((x1 - x, y1 - y, z1 - z), dtype)
    top = terms.top(name)
    with _verified(terms, comm) as checks:

        def one(slab: Box) -> None:
            lo, hi = slab
            result[lo[0] - x : hi[0] - x] = value(_limbs(terms, name, top, slab, checks), top, dtype)

        _each(one, terms, *box)
    return result


Checks = dict[tuple[str, str], int]  # (name of a sum's file or number of a task, volume): checksum of what was read
UNREADABLE = 1  # added to the checksum of a contribution that cannot be read, which makes it wrong


@contextmanager
def _verified(terms: Terms, comm: MPI.Intracomm) -> Iterator[Checks]:
    """Collective. The block adds up checksums of what it reads; a term whose checksum is wrong is removed, so that its
    tasks are repeated, and named in the FathometerError."""
    checks: Checks = {}
    with collective_errors(comm):
        yield checks
    checksums: Checks = {}
    for of_rank in allgather(comm, checks):
        for (term, name), part in of_rank.items():
            _note(checksums, term, name, part)
    expected = {(s.path.name, name): value for s in terms.sums for name, value in s.checksums.items()}
    expected |= {(str(c.task), name): part.checksum for c in terms.contributions for name, part in c.parts.items()}
    wrong = sorted(key for key, checked in checksums.items() if checked != expected[key])
    with collective_errors(comm):
        if not wrong:
            return
        term, name = wrong[0]
        path = terms.journal.contribution(int(term), name) if term.isdecimal() else terms.journal.folder / term
        if comm.rank == 0:
            remove_file(path)
        raise FathometerError(f"{path}: its values have changed since they were written; --resume computes them again")


def _planes(lo: Sequence[int], hi: Sequence[int]) -> Iterator[Box]:
    """A box, which may be empty, in slabs of whole planes, the order of cells in files of sums."""
    return slabs(lo, hi, max(SLAB_CELLS, (hi[1] - lo[1]) * (hi[2] - lo[2])))


def _limbs(terms: Terms, name: str, top: int, box: Box, checks: Checks) -> Limbs:
    """The sum of a volume in a box, int64 (2, nx, ny, nz), with the given top; not to be changed."""
    lo, hi = box
    if terms.in_memory is None:
        limbs = np.zeros((LIMBS, *(b - a for a, b in zip(lo, hi, strict=True))), np.int64)
    else:
        limbs = terms.in_memory.limbs(name, top, lo, hi)
        if terms.all_in_memory:
            return limbs
        limbs = np.array(limbs)
    with ledger.file(file_kind(terms.journal), "read"):
        for term in (s for s in terms.sums if terms.is_read(s.tasks)):
            nx, ny, nz = term.shape
            with ledger.io(bytes=limbs.nbytes):
                read = np.ascontiguousarray(term.limbs(name, lo[0], hi[0])[:, :, lo[1] : hi[1], lo[2] : hi[2]])
            for n, limb in enumerate(read):
                place = n * nx + lo[0], lo[1], lo[2]
                _note(checks, term.path.name, name, checksum(limb, (LIMBS * nx, ny, nz), place))
            limbs += with_top(read, term.tops[name], top)
        for c in (c for c in terms.contributions if terms.is_read([c.task])):
            a, b = np.maximum(lo, c.lo), np.minimum(hi, c.hi)
            if (a < b).all():
                path = terms.journal.contribution(c.task, name)
                try:
                    values = _cells(path, a - c.lo, b - c.lo)
                except InputError:  # damaged or missing
                    require_access(path)
                    _note(checks, str(c.task), name, UNREADABLE)
                    continue
                _note(checks, str(c.task), name, checksum(values, c.hi - np.array(c.lo), a - c.lo))
                x, y, z = (slice(n - m, k - m) for n, k, m in zip(a, b, lo, strict=True))
                try:
                    add(limbs[:, x, y, z], top, values)
                except ValueError:  # larger than the journal says
                    _note(checks, str(c.task), name, UNREADABLE)
    return limbs


def _note(checks: Checks, term: str, name: str, more: int) -> None:
    checks[term, name] = (checks.get((term, name), 0) + more) % MODULUS


def _cells(path: Path, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """The cells lo to hi of a contribution, (nx, ny, nz)."""
    with open_volume(path.name, path.parent) as volume:
        axes = (0, 2) if len(volume.info.shape) == 2 else (0, 1, 2)
        values = volume.read([int(lo[a]) for a in axes], [int(hi[a]) for a in axes])
    return values.reshape([int(n) for n in hi - lo])
