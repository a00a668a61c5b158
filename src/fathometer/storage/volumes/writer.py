"""Writing a volume by all ranks of a communicator, each its own block; it appears whole or not at all.

    open    rank 0 creates every file beside its target, reserves its size, writes its header; all ranks open it
    write   each rank's block, by the strategy
    flush   to the device
    close   all ranks close the file, rank 0 renames it into place

After every step that can fail on one rank the ranks agree on the outcome (storage/shared_writer.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.storage.shared_writer import SharedWriter
from fathometer.storage.volumes.block import VolumeInfo, check_info_names, check_shape
from fathometer.storage.volumes.boxes import Box, extent, slabs, surrounding
from fathometer.storage.volumes.compression import Compression
from fathometer.storage.volumes.exchange import exchange
from fathometer.storage.volumes.levels import check_levels, coarser
from fathometer.storage.volumes.registry import Format, LevelledSink, Sink, format_of, writable_suffixes
from fathometer.storage.volumes.strategy import ROOT, WAVELET, Strategy
from fathometer.storage.volumes.strategy_cache import resolve_auto_on_ranks

if TYPE_CHECKING:
    from mpi4py import MPI

SLAB_BYTES = 1 << 28  # that rank 0 gathers at a time


def check_writable(path: Path, strategy: Strategy, ranks: int) -> tuple[Format, Strategy]:
    """The format of a volume to be written, and the strategy by which `ranks` ranks will write it.

    InputError: a suffix that is not written, a strategy that it is not written by, a library that is missing.
    """
    suffix = path.suffix.lower()
    if suffix not in writable_suffixes():
        raise InputError(
            f"{path}: volumes are written as {', '.join(writable_suffixes())}, not {suffix or 'without a suffix'}"
        )
    form = format_of(path)
    return form, form.chosen(path, strategy, "write", ranks)


def check_stored(path: Path, info: VolumeInfo, strategy: Strategy) -> None:
    """InputError where a volume has too few cells for a strategy's levels, or values that its filter does not take."""
    check_levels(path, info, strategy.levels)
    if strategy.filter == WAVELET and np.dtype(info.dtype) != np.float32:
        raise InputError(f"{path}: filter=wavelet: found {np.dtype(info.dtype)}; allowed: float32")


class VolumeWriter(SharedWriter[Sink]):
    """A volume being written by all ranks; collective, each of its methods too. A context manager, which closes.

    Values are written as float32 or float64 (info.dtype), in native byte order unless the format prescribes another.
    errors: find out what lossy compression loses. compression: what it takes and loses on this rank, complete after
    closing; None: there is none.

    Raises InputError: suffix, shape, dtype, names, strategy; FathometerError: a failure of the system (disk full, no
    permission, no such folder). Both the same on all ranks.
    """

    def __init__(
        self, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy | None = None, errors: bool = True
    ) -> None:
        from mpi4py import MPI

        dtype = np.dtype(info.dtype).newbyteorder("=")
        if dtype not in (np.float32, np.float64):
            raise InputError(f"{path}: values of type {info.dtype} cannot be written (allowed: float32, float64)")
        check_info_names(path, info)
        with collective_errors(comm):
            form, _ = check_writable(path, strategy or Strategy(), comm.size)
            self.info = replace(info, dtype=dtype, shape=check_shape(str(path), info.shape, form.axes))
        wanted = resolve_auto_on_ranks(path, form, "write", strategy, comm)
        with collective_errors(comm):
            self.strategy = form.chosen(path, wanted, "write", comm.size)
            check_stored(path, self.info, self.strategy)
        super().__init__(path, comm, self.strategy.sync != "none")
        new_files, sink = form.new_files, form.sink
        assert new_files is not None
        assert sink is not None
        self._through_root = self.strategy.name == ROOT
        self.compression: Compression | None = None
        self._cells = 0
        part = self._create(lambda: new_files(path, self.info))
        with self._step():
            if not self._through_root or comm.rank == 0:
                ranks = MPI.COMM_SELF if self._through_root else comm
                self._file = sink(part, path, self.info, ranks, self.strategy)
                self.compression = getattr(self._file, "compression", None)
                if self.compression is not None:
                    self.compression.find_errors = errors

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write this rank's block [lo, lo + block.shape), which may be empty.

        The blocks of all ranks and calls must tile the volume. The root strategy gathers those of a call on rank 0,
        slab by slab.
        """
        with self._step():
            self._check_block(block, lo)
            values = np.ascontiguousarray(block, self.info.dtype)
        self._cells += values.size
        self._put(values, lo, 0)
        if self.strategy.levels:
            with self._step():
                levels = list(coarser(self.path, self.info, self.strategy.levels, values, lo, self.comm))
            for level, (coarse, at) in enumerate(levels, start=1):
                self._put(coarse, at, level)

    def _put(self, values: NDArray[Any], lo: Sequence[int], level: int) -> None:
        """Write this rank's block of a level, or have rank 0 do so."""
        if not self._through_root:
            with self._step():
                self._put_here(values, lo, level)
            return
        for box in _filled(allgather(self.comm, _box(values, lo))):
            for slab_lo, slab_hi in slabs(*box, SLAB_BYTES // self.info.dtype.itemsize):
                wanted = (slab_lo, slab_hi) if self.comm.rank == 0 else (slab_lo, slab_lo)
                slab = exchange(self.comm, values, lo, *wanted)
                with self._step():
                    self._put_here(slab, slab_lo, level)

    def _put_here(self, values: NDArray[Any], lo: Sequence[int], level: int) -> None:
        if self._file is None:
            return
        if level:
            assert isinstance(self._file, LevelledSink)  # other formats are refused before
            self._file.write_level(values, lo, level)
        else:
            self._file.write(values, lo)

    def _check_block(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        inside = block.ndim == len(self.info.shape) == len(lo) and all(
            a >= 0 and a + n <= length for a, n, length in zip(lo, block.shape, self.info.shape, strict=True)
        )
        if not inside:
            raise InputError(
                f"{self.path}: a block of shape {block.shape} at {tuple(lo)} does not lie in {self.info.shape}"
            )

    def flush(self) -> None:
        """Flush to the device what was written, as the strategy's `sync` says."""
        self._flush()

    def close(self) -> None:
        """Close the file and rename it into place. InputError where the ranks' blocks do not fill the volume."""
        cells = sum(allgather(self.comm, self._cells))
        with self._step():
            if cells != math.prod(self.info.shape):
                raise InputError(
                    f"{self.path}: the ranks' blocks hold {cells} cells, the volume {math.prod(self.info.shape)}"
                )
        self._end()
        if self.compression is not None:
            self.compression.tell()


def _box(block: NDArray[Any], lo: Sequence[int]) -> Box:
    """Of a block at `lo`."""
    return tuple(map(int, lo)), tuple(int(a) + n for a, n in zip(lo, block.shape, strict=True))


def _filled(boxes: Sequence[Box]) -> list[Box]:
    """Boxes of which ranks' boxes, without overlap, fill every cell: all in one where that is so."""
    boxes = [box for box in boxes if math.prod(extent(box))]
    if not boxes:
        return []
    around = surrounding(boxes)
    return [around] if math.prod(extent(around)) == sum(math.prod(extent(box)) for box in boxes) else list(boxes)


def write_volume(
    path: Path,
    info: VolumeInfo,
    block: NDArray[Any],
    lo: Sequence[int],
    comm: MPI.Intracomm,
    strategy: Strategy | None = None,
) -> None:
    """Collective. Write a volume, every rank its block [lo, lo + block.shape); the suffix gives the format. Raises as
    VolumeWriter."""
    with VolumeWriter(path, info, comm, strategy) as writer:
        writer.write(block, lo)
        writer.flush()
