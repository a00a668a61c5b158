"""Stacks of records (last in, first out) in memory or on disk.

    room = stack.room()      # buffer for the next record: `largest` bytes, or a given number
    rooms = stack.rooms(n)   # the same for the next records, one to n of them
    stack.push(used)         # keep the first `used` bytes of it
    record = stack.pop()     # the latest record not yet popped; valid until the next call

Records are stored one after the other in slabs, large buffers that are written and read as a whole.
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
from fathometer.base.formatting import bytes_in_words
from fathometer.storage.scratch.file import Scratch

Bytes = NDArray[np.uint8]

ALIGNMENT = 64  # of a record: a cache line
SLAB_BYTES = 16 << 20  # least size of a slab
PAGE = 4096  # alignment of direct input and output


def padded(size: int, unit: int = ALIGNMENT) -> int:
    """`size` rounded up to a multiple of `unit`."""
    return -(-size // unit) * unit


def slab_of(record: int) -> int:
    """Bytes of a slab of whole records (bytes each), at least SLAB_BYTES."""
    each = max(ALIGNMENT, padded(record))
    return each * max(1, -(-SLAB_BYTES // each))


class Stack(Protocol):
    """A stack of records; see the head of this file. `push` keeps what was written into the latest `room`.

    Attributes:
        stored_bytes: of all records pushed so far. held_bytes: of memory.
    """

    @property
    def held_bytes(self) -> int: ...

    @property
    def stored_bytes(self) -> int: ...

    def room(self, size: int | None = None) -> Bytes: ...

    def rooms(self, most: int) -> list[Bytes]: ...

    def push(self, used: int) -> None: ...

    def pop(self) -> Bytes: ...

    def close(self) -> None: ...


class _Slabs:
    """Positions of records, (slab, first byte, bytes) of each."""

    def __init__(self, largest: int, slab_bytes: int) -> None:
        self.largest, self.slab_bytes = padded(largest), slab_bytes
        self.records: list[tuple[int, int, int]] = []
        self.stored_bytes = 0
        self._next: list[tuple[int, int]] = []  # the last one first

    def take(self, size: int | None, count: int = 1) -> list[tuple[int, int, int]]:
        """Slab, first byte and end of the spaces for the next records of at most `size` bytes."""
        size = self.largest if size is None else size
        slab, end = 0, 0
        if self.records:
            slab, first, used = self.records[-1]
            end = first + padded(used)
        places = []
        for _ in range(count):
            if end + size > self.slab_bytes:
                slab, end = slab + 1, 0
            places.append((slab, end, end + size))
            end += padded(size)
        self._next = [(slab, first) for slab, first, _ in reversed(places)]
        return places

    def push(self, used: int) -> None:
        """Add a record at the next of the positions that `take` returned."""
        self.records.append((*self._next.pop(), used))
        self.stored_bytes += used

    def filled(self, slab: int) -> int:
        """Bytes of a slab up to the end of its last record."""
        ends = (first + padded(used) for number, first, used in reversed(self.records) if number == slab)
        return next(ends, 0)


class MemoryStack:
    """Records in memory.

    Args:
        largest: bytes of a record. slab_bytes: of a slab; slabs are allocated as needed, and kept.
        make: allocates a slab of so many bytes. limit: bytes of all slabs, at most.

    Attributes:
        slabs: the memory; what records do not fill of it may be used otherwise.

    `room` raises FathometerError where memory is exhausted, or the limit reached.
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
        return self._memory(*self._at.take(size)[0])

    def rooms(self, most: int) -> list[Bytes]:
        return [self._memory(*place) for place in self._at.take(None, most)]

    def _memory(self, slab: int, first: int, end: int) -> Bytes:
        if slab == len(self.slabs):
            try:
                if (slab + 1) * self._at.slab_bytes > self._limit:
                    raise MemoryError
                self.slabs.append(self._make(self._at.slab_bytes))
            except MemoryError:
                raise FathometerError(
                    f"not enough memory: {bytes_in_words(slab * self._at.slab_bytes)} of records are held and one more "
                    f"piece of {bytes_in_words(self._at.slab_bytes)} is needed"
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
        """Put back the records popped since the last push; the number of all records."""
        self._at.records += reversed(self._popped)
        self._popped.clear()
        return len(self._at.records)

    @property
    def held_bytes(self) -> int:
        return self._at.slab_bytes * len(self.slabs)

    def close(self) -> None:
        self.slabs.clear()


class DiskStack:
    """Records in an anonymous scratch file, removed with the process.

    Two slabs are buffered in memory: while one is filled (or consumed), a thread writes (or reads) the other.

    Args:
        folder: of the file. largest: bytes of a record. slab_bytes: at least two records should fit, or one large one.
        reserved: slabs for which disk space is reserved at once; for more, as needed.
        worker: the thread; it is shut down with the stack. direct: bypass the page cache (O_DIRECT).
        kind: of the file in the ledger; writes are its "push", reads its "pop". limit: bytes of the file, at most.

    Raises FathometerError: no such folder, no space, a failing disk; InputError: no direct input and output there.
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
        self._buffers = [_aligned(size) for _ in range(2)]
        self._holds: list[int | None] = [0, None]  # slab in each buffer, or being read into it
        self._moving: list[Future[None] | None] = [None, None]
        self._dirty = [False, False]  # changed since it was written
        self._worker = worker
        self._file = Scratch(folder, kind, reserved=reserved * size, direct=direct)

    @property
    def stored_bytes(self) -> int:
        return self._at.stored_bytes

    def rooms(self, most: int) -> list[Bytes]:
        """One: what is written goes to the disk as it comes."""
        return [self.room()]

    def room(self, size: int | None = None) -> Bytes:
        [(slab, first, end)] = self._at.take(size)
        if slab and not first:  # the slab before is full
            if (slab + 1) * self._at.slab_bytes > self._limit:
                raise FathometerError(
                    f"{self._folder}: the {self._kind} would take more than the {bytes_in_words(self._limit)} that "
                    "it may"
                )
            self._store(slab - 1)
        buffer = self._buffer_of(slab)
        self._dirty[buffer] = True
        return self._buffers[buffer][first:end]

    def push(self, used: int) -> None:
        self._at.push(used)

    def pop(self) -> Bytes:
        slab, first, used = self._at.records.pop()
        buffer = self._buffer_of(slab)
        if slab and self._at.records and self._holds[1 - buffer] != slab - 1:
            self._wait(1 - buffer)
            self._holds[1 - buffer], self._dirty[1 - buffer] = slab - 1, False
            self._move(1 - buffer, self._read, slab - 1)
        return self._buffers[buffer][first : first + used]

    @property
    def held_bytes(self) -> int:
        return self._at.slab_bytes * len(self._buffers)

    def flush(self) -> None:
        """Write and flush all records to the device."""
        for slab in sorted(slab for slab in self._holds if slab is not None and self._at.filled(slab)):
            self._store(slab)
        for buffer in (0, 1):
            self._wait(buffer)
        self._file.flush()

    def close(self) -> None:
        self._worker.shutdown(wait=True)
        self._file.close()
        self._buffers.clear()

    def _buffer_of(self, slab: int) -> int:
        """The buffer that holds the slab, or is free for it, once its transfer has ended."""
        if slab in self._holds:
            buffer = self._holds.index(slab)
        else:  # the one that does not hold the previous slab
            buffer = next(n for n in (0, 1) if self._holds[n] is None or self._holds[n] != slab - 1)
            self._wait(buffer)
            self._holds[buffer] = slab
        self._wait(buffer)
        return buffer

    def _store(self, slab: int) -> None:
        """Begin to write a buffered slab, if it changed."""
        buffer = self._holds.index(slab)
        if self._dirty[buffer]:
            self._dirty[buffer] = False
            self._move(buffer, self._write, slab)

    def _move(self, buffer: int, task: Callable[[int, int, int], None], slab: int) -> None:
        size = padded(self._at.filled(slab), PAGE)
        self._moving[buffer] = self._worker.submit(ledger.carried(task), buffer, slab, size)

    def _wait(self, buffer: int) -> None:
        moving, self._moving[buffer] = self._moving[buffer], None
        if moving is not None:
            ledger.awaited(moving)

    def _write(self, buffer: int, slab: int, size: int) -> None:
        self._file.write(self._buffers[buffer][:size], slab * self._at.slab_bytes, f"{self._kind} push")

    def _read(self, buffer: int, slab: int, size: int) -> None:
        self._file.read(self._buffers[buffer][:size], slab * self._at.slab_bytes, f"{self._kind} pop")


def _aligned(size: int) -> Bytes:
    """Zeroed memory aligned to a page, in huge pages where the system has them."""
    memory = mmap.mmap(-1, size)
    with suppress(AttributeError, OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.uint8)
