"""Reading a volume by all ranks of a communicator, each the box that it needs, halo included."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.collectives import allgather, allreduce, collective_errors
from fathometer.parallel.decomposition import split
from fathometer.storage.reading import reading
from fathometer.storage.volumes.block import Floats, Volume, as_floats, check_box, float_type
from fathometer.storage.volumes.boxes import Box, overlap, slabs, surrounding, within
from fathometer.storage.volumes.collective_file import allocate_block
from fathometer.storage.volumes.exchange import exchange
from fathometer.storage.volumes.registry import Source, format_to_read
from fathometer.storage.volumes.strategy import COLLECTIVE, ROOT, Strategy
from fathometer.storage.volumes.strategy_cache import resolve_auto_on_ranks

if TYPE_CHECKING:
    from mpi4py import MPI

SLAB_BYTES = 1 << 28  # that rank 0 reads and sends at a time


class SharedVolume:
    """A volume that each rank has open for itself, read by all together; collective, each of its methods too.

    A context manager; closing it leaves the rank's own volume open.

    Raises InputError, the same on all ranks: the strategy is not for this format, a library is missing, a file cannot
    be read.
    """

    def __init__(self, volume: Volume, comm: MPI.Intracomm, strategy: Strategy | None = None) -> None:
        form = format_to_read(volume.path)
        self.path, self.info, self.comm = volume.path, volume.info, comm
        self._volume = volume
        self._source: Source | None = None
        strategy = resolve_auto_on_ranks(volume.path, form, "read", strategy, comm)
        with collective_errors(comm):
            self.strategy = form.chosen(volume.path, strategy, "read", comm.size)
        self._through_root = self.strategy.name == ROOT
        if not self._through_root:
            with self._step():
                self._source = form.source(volume, comm, self.strategy)

    @contextlib.contextmanager
    def _step(self) -> Iterator[None]:
        try:
            with collective_errors(self.comm), reading(self.path):
                yield
        except FathometerError:
            self._release()
            raise

    def read(self, lo: Sequence[int], hi: Sequence[int]) -> Floats:
        """As Volume.read: the block [lo, hi), which may be empty. Ranks' blocks may overlap.

        With the root strategy rank 0 reads the whole volume and sends each rank its part.
        """
        box = tuple(map(int, lo)), tuple(map(int, hi))
        with collective_errors(self.comm):
            check_box(self.path, self.info.shape, lo, hi)
        if self._through_root:
            return self._from_root(box)
        if self.strategy.name == COLLECTIVE:
            return self._without_overlap(box)
        return self._read_own(box)

    def _read_own(self, box: Box) -> Floats:
        """Read this rank's box from the file."""
        with self._step():
            if self._source is None:
                return self._volume.read(*box)
            stored = self._volume.stored
            return as_floats(self._source.read(stored.box(*box)), self.info, stored)

    def _without_overlap(self, box: Box) -> Floats:
        """Read this rank's box by one collective call in which no two ranks' boxes overlap.

        Open MPI's own implementation of MPI-IO (seen in 4.1.4) gives wrong values, and no error, where the parts that
        two ranks read begin at the same byte. Where boxes overlap, each rank reads a slab of their bounding box, and
        the ranks exchange the blocks that they want.
        """
        boxes = allgather(self.comm, box)
        others = (other for rank, other in enumerate(boxes) if rank != self.comm.rank)
        if not allreduce(self.comm, any(overlap(box, other) for other in others), "MAX"):
            return self._read_own(box)
        around = surrounding([wanted for wanted in boxes if overlap(wanted, wanted)])  # without empty ones
        first, last = around[0][0], around[1][0]
        ends = [split(last - first, self.comm.size, self.comm.rank)[end] + first for end in (0, 1)]
        slab = (ends[0], *around[0][1:]), (ends[1], *around[1][1:])
        return exchange(self.comm, self._read_own(slab), slab[0], *box)

    def _from_root(self, box: Box) -> Floats:
        kind = float_type(self.info.dtype)
        result = allocate_block(self.path, box, kind, self.comm)
        shape = self.info.shape
        for lo, hi in slabs((0,) * len(shape), shape, SLAB_BYTES // kind.itemsize):
            with collective_errors(self.comm):
                try:
                    slab = self._volume.read(lo, hi) if self.comm.rank == 0 else np.empty((0,) * len(shape), kind)
                except MemoryError:
                    raise FathometerError(f"{self.path}: not enough memory to read it whole on rank 0") from None
            wanted_lo = tuple(min(max(a, b), c) for a, b, c in zip(box[0], lo, hi, strict=True))
            wanted_hi = tuple(max(a, min(b, c)) for a, b, c in zip(wanted_lo, box[1], hi, strict=True))
            part = exchange(self.comm, slab, lo, wanted_lo, wanted_hi)
            if part.size:
                result[within((wanted_lo, wanted_hi), box[0])] = part
        return result

    def _release(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            with contextlib.suppress(OSError, InputError):
                source.close()

    def close(self) -> None:
        """Close what this opened."""
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:  # otherwise perhaps of this rank alone: nothing collective
            self.close()


@contextlib.contextmanager
def open_shared(
    reference: str, directory: Path, comm: MPI.Intracomm, strategy: Strategy | None = None
) -> Iterator[SharedVolume]:
    """Collective. Open a volume by its reference (see volume.py) on all ranks, by a strategy."""
    from fathometer.storage.volumes.volume import open_volume

    with contextlib.ExitStack() as stack:
        with collective_errors(comm):
            volume = stack.enter_context(open_volume(reference, directory, steps=True))
        yield stack.enter_context(SharedVolume(volume, comm, strategy))
