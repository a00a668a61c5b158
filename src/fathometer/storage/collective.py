"""One file written by all ranks of a communicator, each its own block of an array in C order.

    rank 0      creates every part beside its target, reserves its full size, writes the headers
    every rank  writes the contiguous runs of its block at their places, flushes
    all         agree on success
    rank 0      renames the parts into place, or removes them
    all         return, or raise the same error

Every step that can fail on one rank is followed by an exchange, so that no rank waits for another that has
given up.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer import ledger
from fathometer.errors import InputError
from fathometer.parallel.agreement import gathered, together
from fathometer.storage import whole
from fathometer.storage.block import VolumeInfo

if TYPE_CHECKING:
    from mpi4py import MPI


@dataclass(frozen=True)
class Piece:
    """One of the files that make up a volume: its head, then the array if it is the one that holds the
    array.
    """

    target: Path
    head: bytes
    array: bool


def write_pieces(
    pieces: Sequence[Piece],
    path: Path,
    info: VolumeInfo,
    block: NDArray[Any],
    lo: Sequence[int],
    comm: MPI.Intracomm,
) -> None:
    """Write the files of the volume `path` and rename them into place in the order given.

    `block` is this rank's part, at `lo` of the array of info.shape; the blocks of all ranks must tile the
    array. FathometerError on all ranks alike where any of them fails; none of the new files is left then.
    """
    with together(comm):
        _check_block(path, info, block, lo)
    cells = sum(gathered(comm, block.size))
    if cells != math.prod(info.shape):
        raise InputError(f"{path}: the ranks' blocks hold {cells} cells, the volume {math.prod(info.shape)}")

    parts: list[Path] = []
    try:
        with together(comm):
            if comm.rank == 0:
                _create(pieces, path, info, parts)
        with ledger.communication():
            names = comm.bcast(parts, root=0)
        with together(comm):
            for piece, part in zip(pieces, names, strict=True):
                if piece.array:
                    _write_block(part, path, info, block, lo, len(piece.head))
        with together(comm):
            if comm.rank == 0:
                _place(pieces, path, parts)
    except BaseException:
        for part in parts:  # filled on rank 0 only
            whole.remove(part)
        raise


def _check_block(path: Path, info: VolumeInfo, block: NDArray[Any], lo: Sequence[int]) -> None:
    inside = block.ndim == len(info.shape) == len(lo) and all(
        a >= 0 and a + n <= length for a, n, length in zip(lo, block.shape, info.shape, strict=True)
    )
    if not inside:
        raise InputError(f"{path}: a block of shape {block.shape} at {tuple(lo)} does not lie in {info.shape}")


def _create(pieces: Sequence[Piece], path: Path, info: VolumeInfo, parts: list[Path]) -> None:
    array_bytes = math.prod(info.shape) * info.dtype.itemsize
    try:
        for piece in pieces:
            with ledger.io():
                parts.append(whole.create_part(piece.target, len(piece.head) + piece.array * array_bytes))
            handle = os.open(parts[-1], os.O_WRONLY)
            try:
                with ledger.io(bytes=len(piece.head)):
                    whole.write_at(handle, memoryview(piece.head), 0)
                with ledger.flush():
                    os.fsync(handle)
            finally:
                os.close(handle)
    except OSError as error:
        raise whole.failure(path, error) from None


def _write_block(part: Path, path: Path, info: VolumeInfo, block: NDArray[Any], lo: Sequence[int], start: int) -> None:
    item = info.dtype.itemsize
    try:
        values = np.ascontiguousarray(block, dtype=info.dtype)
        data = values.reshape(-1).view(np.uint8).data if values.size else memoryview(b"")
        handle = os.open(part, os.O_WRONLY)
        try:
            with ledger.io(bytes=len(data)):
                for cell, place, count in runs(info.shape, values.shape, lo):
                    whole.write_at(handle, data[cell * item : (cell + count) * item], start + place * item)
            with ledger.flush():
                os.fsync(handle)
        finally:
            os.close(handle)
    except (OSError, MemoryError) as error:
        raise whole.failure(path, error) from None


def _place(pieces: Sequence[Piece], path: Path, parts: list[Path]) -> None:
    placed: list[Path] = []
    try:
        for piece, part in zip(pieces, parts, strict=True):
            with ledger.flush():
                whole.place(part, piece.target)
            placed.append(piece.target)
    except OSError as error:
        for target in placed:
            whole.remove(target)
        raise whole.failure(path, error) from None


def runs(shape: Sequence[int], block: Sequence[int], lo: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """The longest contiguous runs of a block within an array in C order: (cell of the block, cell of the
    array, cells).

    >>> list(runs((2, 3, 4), (2, 2, 4), (0, 1, 0)))
    [(0, 4, 8), (8, 16, 8)]
    """
    if math.prod(block) == 0:
        return
    # The axes behind `cut` are whole in the block, so one run spans them all and the part of the axis `cut`
    # as well.
    cut = len(shape) - 1
    while cut > 0 and block[cut] == shape[cut]:
        cut -= 1
    count = math.prod(block[cut:])
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    first = sum(start * stride for start, stride in zip(lo, strides, strict=True))
    for number, index in enumerate(itertools.product(*(range(n) for n in block[:cut]))):
        place = first + sum(i * stride for i, stride in zip(index, strides[:cut], strict=True))
        yield number * count, place, count
