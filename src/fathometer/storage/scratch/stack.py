"""Records on a stack, last in, first out, in memory or on disk: what is put aside now and wanted back in reverse.

    room = stack.room()      # where the next record is to be written: `largest` bytes, or as many as are said
    stack.push(used)         # keep the first `used` of them
    record = stack.pop()     # the latest record not yet popped; valid until the next call

Records lie one behind the other in slabs, large pieces of memory that are written and read at once.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.storage.scratch.file import Scratch

Bytes = NDArray[np.uint8]

ALIGNMENT = 64  # of a record: a cache line
SLAB_BYTES = 16 << 20  # least that is written or read at a time, and by which memory grows
PAGE = 4096  # of what moves past the system's cache


def padded(size: int, unit: int = ALIGNMENT) -> int:
    """`size` rounded up to whole units."""
    return -(-size // unit) * unit


def slab_of(record: int) -> int:
    """Bytes of a slab of whole records, no fewer than SLAB_BYTES."""
    each = max(ALIGNMENT, padded(record))
    return each * max(1, -(-SLAB_BYTES // each))


class Stack(Protocol):
    """See the head of this file.

    A record must be pushed into the room that was asked for last.

    Attributes:
        stored_bytes: of all records pushed so far. held_bytes: of memory.
    """

    @property
    def held_bytes(self) -> int: ...

    @property
    def stored_bytes(self) -> int: ...

    def room(self, size: int | None = None) -> Bytes: ...

    def push(self, used: int) -> None: ...

    def pop(self) -> Bytes: ...

    def close(self) -> None: ...


class _Slabs:
    """Where records lie: (slab, first byte, bytes) of each, and how far the last slab is filled."""

    def __init__(self, largest: int, slab_bytes: int) -> None:
        self.largest, self.slab_bytes = padded(largest), slab_bytes
        self.records: list[tuple[int, int, int]] = []
        self.stored_bytes = 0
        self._next = 0, 0

    def take(self, size: int | None) -> tuple[int, int, int]:
        """Slab, first byte and end of the room for the next record."""
        size = self.largest if size is None else size
        slab, first = 0, 0
        if self.records:
            slab, first, used = self.records[-1]
            first += padded(used)
            if first + size > self.slab_bytes:
                slab, first = slab + 1, 0
        self._next = slab, first
        return slab, first, first + size

    def push(self, used: int) -> None:
        """Keep what was written where `take` said."""
        self.records.append((*self._next, used))
        self.stored_bytes += used

    def filled(self, slab: int) -> int:
        """Bytes of a slab up to the end of its last record."""
        ends = (first + padded(used) for number, first, used in reversed(self.records) if number == slab)
        return next(ends, 0)


class MemoryStack:
    """Records in memory.

    Args:
        largest: bytes of a record. slab_bytes: memory is taken so much at a time, and kept.
        make: hands out a slab of so many bytes. limit: of all slabs, in bytes.

    Attributes:
        slabs: the memory; what records do not fill of it may be used otherwise.

    `room` raises FathometerError where there is no memory, or no more than the limit.
    """

    def __init__(self, largest: int, slab_bytes: int, make: Callable[[int], Bytes], limit: float = math.inf) -> None:
        self._at = _Slabs(largest, max(slab_bytes, padded(largest)))
        self._make, self._limit = make, limit
        self._popped: list[tuple[int, int, int]] = []
        self.slabs: list[Bytes] = [make(self._at.slab_bytes)]

    @property
    def stored_bytes(self) -> int:
        return self._at.stored_bytes

    def room(self, size: int | None = None) -> Bytes:
        slab, first, end = self._at.take(size)
        if slab == len(self.slabs):
            try:
                if (slab + 1) * self._at.slab_bytes > self._limit:
                    raise MemoryError
                self.slabs.append(self._make(self._at.slab_bytes))
            except MemoryError:
                raise FathometerError(
                    f"not enough memory: {slab * self._at.slab_bytes / 1e9:.3g} GB of records are held and one more "
                    f"piece of {self._at.slab_bytes / 1e9:.3g} GB is needed"
                ) from None
        return self.slabs[slab][first:end]

    def push(self, used: int) -> None:
        self._popped.clear()
        self._at.push(used)

    def pop(self) -> Bytes:
        self._popped.append(self._at.records.pop())
        slab, first, used = self._popped[-1]
        return self.slabs[slab][first : first + used]

    def rewind(self) -> int:
        """What was popped since the last push can be popped once more; how many records that are."""
        self._at.records += reversed(self._popped)
        self._popped.clear()
        return len(self._at.records)

    @property
    def held_bytes(self) -> int:
        return self._at.slab_bytes * len(self.slabs)

    def close(self) -> None:
        self.slabs.clear()


class DiskStack:
    """Records in a file without a name, which goes with the process, however that ends.

    Two slabs are in memory: while one is filled (or used up), the other is written (or read) by a thread beside.

    Args:
        folder: of the file. largest: bytes of a record. slab_bytes: at least two records should fit, or one large one.
        reserved: slabs whose place on the disk is taken at once; beyond, as needed.
        worker: the thread beside; it is ended with the stack. direct: past the system's cache.
        kind: of the file in the account; writes are its "push", reads its "pop". limit: bytes of the file.

    Raises FathometerError: no such folder, no place, a failing disk. InputError: `direct` where that is not possible.
    """

    def __init__(
        self,
        folder: Path,
        largest: int,
        slab_bytes: int,
        reserved: int,
        worker: ThreadPoolExecutor,
        direct: bool = False,
        kind: str = "records",
        limit: float = math.inf,
    ) -> None:
        size = padded(max(slab_bytes, padded(largest)), PAGE)
        self._at = _Slabs(largest, size)
        self._folder, self._kind, self._limit = folder, kind, limit
        self._memory = [_pages(size) for _ in range(2)]
        self._holds: list[int | None] = [0, None]  # the slab that is (or is being) held by each memory
        self._moving: list[Future[None] | None] = [None, None]
        self._changed = [False, False]  # since it was written
        self._worker = worker
        self._file = Scratch(folder, kind, reserved=reserved * size, direct=direct)

    @property
    def stored_bytes(self) -> int:
        return self._at.stored_bytes

    def room(self, size: int | None = None) -> Bytes:
        slab, first, end = self._at.take(size)
        if slab and not first:  # the slab before is full
            if (slab + 1) * self._at.slab_bytes > self._limit:
                raise FathometerError(
                    f"{self._folder}: the {self._kind} would take more than the {self._limit / 1e9:.3g} GB that it may"
                )
            self._store(slab - 1)
        place = self._place(slab)
        self._changed[place] = True
        return self._memory[place][first:end]

    def push(self, used: int) -> None:
        self._at.push(used)

    def pop(self) -> Bytes:
        slab, first, used = self._at.records.pop()
        place = self._place(slab)
        if slab and self._at.records and self._holds[1 - place] != slab - 1:
            self._wait(1 - place)
            self._holds[1 - place], self._changed[1 - place] = slab - 1, False
            self._move(1 - place, self._read, slab - 1)
        return self._memory[place][first : first + used]

    @property
    def held_bytes(self) -> int:
        return self._at.slab_bytes * len(self._memory)

    def flush(self) -> None:
        """Wait until all that was handed to the disk is there."""
        for slab in sorted(slab for slab in self._holds if slab is not None and self._at.filled(slab)):
            self._store(slab)
        for place in (0, 1):
            self._wait(place)
        self._file.flush()

    def close(self) -> None:
        self._worker.shutdown(wait=True)
        self._file.close()
        self._memory.clear()

    def _place(self, slab: int) -> int:
        """Which memory holds the slab, or is free to be filled with it, once what moves there has moved."""
        if slab in self._holds:
            place = self._holds.index(slab)
        else:  # the one that does not hold the slab before
            place = next(p for p in (0, 1) if self._holds[p] is None or self._holds[p] != slab - 1)
            self._wait(place)
            self._holds[place] = slab
        self._wait(place)
        return place

    def _store(self, slab: int) -> None:
        """Begin to write a slab that is in memory, if it changed."""
        place = self._holds.index(slab)
        if self._changed[place]:
            self._changed[place] = False
            self._move(place, self._write, slab)

    def _move(self, place: int, task: Callable[[int, int, int], None], slab: int) -> None:
        size = padded(self._at.filled(slab), PAGE)
        self._moving[place] = self._worker.submit(ledger.carried(task), place, slab, size)

    def _wait(self, place: int) -> None:
        moving, self._moving[place] = self._moving[place], None
        if moving is not None:
            ledger.awaited(moving)

    def _write(self, place: int, slab: int, size: int) -> None:
        self._file.write(self._memory[place][:size], slab * self._at.slab_bytes, f"{self._kind} push")

    def _read(self, place: int, slab: int, size: int) -> None:
        self._file.read(self._memory[place][:size], slab * self._at.slab_bytes, f"{self._kind} pop")


def _pages(size: int) -> Bytes:
    """Zeroed memory that begins with a page, in huge pages where the system has them."""
    memory = mmap.mmap(-1, size)
    with suppress(AttributeError, OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.uint8)
