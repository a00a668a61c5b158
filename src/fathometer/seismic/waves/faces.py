"""Rows next to cuts in y, which two ranks send each other while each computes its half of the diamonds astride the cut
(native/core/advance.cpp).

The kernels pack and unpack them; here they travel. A message is begun when it is packed, and asked for two blocks of
planes later, by the same thread. It is waited for where nothing else is left to compute.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer import _native
from fathometer.base import ledger
from fathometer.parallel.decomposition import Decomposition
from fathometer.parallel.halo import MOST_NUMBERS

TAG = MOST_NUMBERS - 3  # beside those of transposes and overlaps
AT_ONCE, NAP = 1e-4, 2e-5  # seconds: whoever has waited for so long may as well look less often


class CutFaces:
    """Messages of a rank with its neighbours in y.

    Args:
        comm, block: of the ranks that share the grid. fields: numbers of those that travel, by the level, or stage, of
            the step that reads them. rows: next to a cut. dtype: of the fields.
    """

    def __init__(
        self, comm: MPI.Intracomm, block: Decomposition, fields: tuple[list[int], list[int]], rows: int, dtype: Any
    ) -> None:
        self._comm = comm
        self._neighbours = [block.neighbour((0, -1, 0)), block.neighbour((0, 1, 0))]
        self._dtype = np.dtype(dtype)
        self._type = MPI._typedict[self._dtype.char]
        self._under_way: dict[tuple[int, int], list[MPI.Request]] = {}
        self._kind: Any = _native.FacesFloat32 if self._dtype == np.float32 else _native.FacesFloat64
        self._slots: int = self._kind.slots
        self._leaving = self._coming = np.empty((0, 0), self._dtype)
        # Of two ranks at a cut both compute its halves first or second: cuts are taken in turns.
        first = 1 - block.coordinates[1] % 2
        self._arguments = {"first": first, "fields": fields, "rows": rows, "row": block.local_shape[2]}

    def native(self) -> Any:
        """What the kernels call."""
        return self._kind(messages=self, **self._arguments)

    def room(self, numbers: int) -> tuple[np.ndarray, np.ndarray]:
        """What leaves and what comes, [side * slots + slot][numbers]."""
        if self._leaving.shape[1] < numbers:
            self._leaving, self._coming = (np.empty((2 * self._slots, numbers), self._dtype) for _ in range(2))
        return self._leaving, self._coming

    def trade(self, side: int, slot: int, numbers: int) -> None:
        """Begin to send so many numbers to the neighbour at a side, and to receive as many."""
        other, place = self._neighbours[side], side * self._slots + slot
        assert other is not None
        with ledger.communication("halo exchange", bytes=numbers * self._dtype.itemsize):
            self._under_way[side, slot] = [
                self._comm.Irecv([self._coming[place], numbers, self._type], other, TAG),
                self._comm.Isend([self._leaving[place], numbers, self._type], other, TAG),
            ]

    def arrived(self, side: int, slot: int) -> bool:
        """Whether the messages have come and gone."""
        requests = self._under_way.get((side, slot))
        if requests is not None:
            if not MPI.Request.Testall(requests):
                return False
            del self._under_way[side, slot]
        return True

    def wait(self, sides_and_slots: list[tuple[int, int]], most: float) -> None:
        """Until messages of one of these have come and gone, or for so many seconds. By MPI_Test in a loop, in which
        Python can be interrupted."""
        others = [self._neighbours[side] for side, _ in sides_and_slots]
        assert others[0] is not None
        begin = ledger.now()
        with ledger.communication("halo exchange"), ledger.waiting_for(others[0]):
            while not any(self.arrived(side, slot) for side, slot in sides_and_slots):
                waited = ledger.now() - begin
                if waited > most:
                    return
                if waited > AT_ONCE:
                    time.sleep(NAP)
                else:
                    os.sched_yield()  # where ranks share a core, the late neighbour may need it

    def close(self) -> None:
        """After an error messages may be under way: their memory stays."""
        if self._under_way:
            _LEFT.append((self._leaving, self._coming, self._under_way))


_LEFT: list[Any] = []
