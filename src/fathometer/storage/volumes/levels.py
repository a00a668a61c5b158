"""Coarser levels of a volume: box means, each level of half as many cells along each axis.

Level 0 is the volume. A cell of level k + 1 is the mean of two cells of level k along each axis, of the last one where
their number is odd; an axis of one cell stays as it is, and so does one of steps. So its centre lies half a cell of
level k behind that of the first of them, which origins say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.parallel.decomposition import Decomposition, best_ranks, largest_size
from fathometer.storage import atomic
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.boxes import Box, extent, overlap, surrounding
from fathometer.storage.volumes.exchange import exchange

if TYPE_CHECKING:
    from mpi4py import MPI

FOLDER = "levels"  # of the levels in a file, by number


def most_levels(info: VolumeInfo) -> int:
    """The level at which a single cell is left."""
    return max((n - 1).bit_length() for n in info.shape[info.stepped :])


def check_levels(path: Path, info: VolumeInfo, levels: int) -> None:
    """InputError where a volume has too few cells for so many levels."""
    if levels > (most := most_levels(info)):
        cells = " x ".join(map(str, info.shape[info.stepped :]))
        raise InputError(f"{path}: levels={levels}: found {cells} cells; allowed: up to {most} levels")


def info_at(info: VolumeInfo, level: int, halvings: Sequence[int] | None = None) -> VolumeInfo:
    """Metadata of a level of box means; with the number of halvings that each space axis has, of every 2^level-th cell
    (a wavelet's low-pass values, wavelet.py)."""
    shape, spacing, origin = list(info.shape), info.spacing, info.origin
    steps = list(spacing) if spacing else [1.0] * len(shape)
    firsts = list(origin) if origin else [0.0] * len(shape)
    for axis in range(int(info.stepped), len(shape)):
        most = (shape[axis] - 1).bit_length() if halvings is None else halvings[axis - info.stepped]
        factor = 1 << min(level, most)
        shape[axis] = -(-shape[axis] // factor)
        if halvings is None:
            firsts[axis] += 0.5 * (factor - 1) * steps[axis]
        steps[axis] *= factor
    known = origin is not None or (spacing is not None and halvings is None)
    return replace(
        info, shape=tuple(shape), spacing=tuple(steps) if spacing else None, origin=tuple(firsts) if known else None
    )


def own_box(shape: Sequence[int], comm: MPI.Intracomm) -> Box:
    """The box of this rank where an array of two or three axes is shared out to all, or to as many as there are cells
    for: empty on the others."""
    solid = (shape[0], shape[1] if len(shape) == 3 else 1, shape[-1])
    axes = (0, 1, 2) if len(shape) == 3 else (0, 2)
    size = comm.size if best_ranks(solid, comm.size, 1) else largest_size(solid, 1, comm.size)
    if comm.rank >= size:
        return (0,) * len(shape), (0,) * len(shape)
    ranks = best_ranks(solid, size, 1)
    assert ranks is not None
    part = Decomposition(solid, ranks, comm.rank)
    return tuple(part.lo[axis] for axis in axes), tuple(part.hi[axis] for axis in axes)


def whole_steps(
    path: Path, shape: Sequence[int], stepped: bool, block: NDArray[Any], lo: Sequence[int], comm: MPI.Intracomm
) -> tuple[int, int]:
    """Collective. The steps that all ranks' blocks of a call fill together; of a volume without steps 0 and 1. They are
    none where all blocks are empty.

    InputError, the same on all ranks, where the blocks do not fill whole steps: levels and wavelets need that.
    """
    own: Box = tuple(map(int, lo)), tuple(block.shape)
    boxes = [box for box in allgather(comm, own) if math.prod(box[1])]
    if not boxes:
        return 0, 0
    ends = surrounding([(first, tuple(a + n for a, n in zip(first, cells, strict=True))) for first, cells in boxes])
    whole = all(a == 0 and b == n for a, b, n in list(zip(*ends, shape, strict=True))[stepped:])
    if not whole or sum(math.prod(cells) for _, cells in boxes) != math.prod(extent(ends)):
        raise InputError(f"{path}: levels and filter=wavelet: found blocks that leave cells out; needed: whole volumes")
    return (ends[0][0], ends[1][0]) if stepped else (0, 1)


def coarser(
    path: Path, info: VolumeInfo, levels: int, block: NDArray[Any], lo: Sequence[int], comm: MPI.Intracomm
) -> Iterator[tuple[NDArray[Any], Sequence[int]]]:
    """Collective. This rank's block of each level from 1 on, and its first cell; `block` is that of level 0 at `lo`.

    A cell's value does not depend on the ranks. InputError as `whole_steps`.
    """
    begin, end = whole_steps(path, info.shape, info.stepped, block, lo, comm)
    steps: Box = ((begin,), (end,)) if info.stepped else ((), ())
    for level in range(1, levels + 1):
        finer, shape = info_at(info, level - 1).shape[info.stepped :], info_at(info, level).shape[info.stepped :]
        own = own_box(shape, comm)
        first, last = (
            tuple(min(cell * (1 if n == half else 2), n) for cell, n, half in zip(ends, finer, shape, strict=True))
            for ends in own
        )
        wanted: Box = (*steps[0], *first), (*steps[1], *last)
        held: Box = tuple(map(int, lo)), tuple(int(a) + n for a, n in zip(lo, block.shape, strict=True))
        if comm.size > 1 or (math.prod(extent(wanted)) > 0 and overlap(held, wanted) != held):
            block = exchange(comm, block, lo, *wanted)
        with collective_errors(comm), atomic.writing(path):
            for axis, (n, half) in enumerate(zip(finer, shape, strict=True), start=int(info.stepped)):
                block = _means_of_two(block, axis) if n > half else block
            block = np.ascontiguousarray(block)
        lo = (*steps[0], *own[0])
        yield block, lo


def _means_of_two(values: NDArray[Any], axis: int) -> NDArray[Any]:
    """Means of neighbours along an axis; the last value alone where their number is odd."""
    part = (slice(None),) * axis
    means = values[(*part, slice(0, None, 2))].copy()
    second = values[(*part, slice(1, None, 2))]
    pairs = means[(*part, slice(0, second.shape[axis]))]
    half = values.dtype.type(0.5)
    with np.errstate(invalid="ignore"):  # of infinities of both signs
        pairs *= half  # before the sum, which could overflow
        pairs += half * second
    return means
