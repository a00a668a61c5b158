"""An array whose blocks along one axis lie on the ranks of a communicator, made whole on all of them."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.collectives import arrived
from fathometer.parallel.decomposition import split


class Gather:
    """Blocks of an array along an axis, by MPI_Allgatherv; set up once and repeated.

    Args:
        shape: of the whole array. axis: that it is cut along, by `decomposition.split`. dtype: of its numbers.

    Attributes:
        bytes_sent: what this rank's block is worth to each other rank.
    """

    def __init__(self, shape: Sequence[int], axis: int, dtype: npt.DTypeLike, comm: MPI.Intracomm) -> None:
        self._shape, self._axis, self._comm = tuple(shape), axis, comm
        self._dtype = np.dtype(dtype)
        self._parts = [split(self._shape[axis], comm.size, rank) for rank in range(comm.size)]
        rest = math.prod(self._shape) // max(1, self._shape[axis]) * self._dtype.itemsize
        self._bytes = [(stop - start) * rest for start, stop in self._parts]
        self.bytes_sent = self._bytes[comm.rank]

    def __call__(self, own: np.ndarray) -> np.ndarray:
        """Collective. The whole array, of this rank's block of it; the same memory on a single rank."""
        if self._comm.size == 1:
            return own
        own = np.ascontiguousarray(own, self._dtype)
        flat = np.empty(sum(self._bytes), np.uint8)
        mine, anyone = bytearray(1), bytearray(1)
        begin = partial(self._comm.Iallreduce, [mine, MPI.BYTE], [anyone, MPI.BYTE], MPI.BOR)
        with (
            ledger.phase("gather"),
            arrived(self._comm, begin, os.sched_yield),
            ledger.communication(bytes=self.bytes_sent * (self._comm.size - 1)),
        ):
            self._comm.Allgatherv([own.reshape(-1).view(np.uint8), MPI.BYTE], [flat, self._bytes, MPI.BYTE])
        whole = np.empty(self._shape, f"V{self._dtype.itemsize}")  # items as they are, paddings too
        start = 0
        for (lo, hi), size in zip(self._parts, self._bytes, strict=True):
            block = flat[start : start + size].view(whole.dtype)
            cells = (*(slice(None),) * self._axis, slice(lo, hi))
            whole[cells] = block.reshape(whole[cells].shape)
            start += size
        return whole.view(self._dtype)
