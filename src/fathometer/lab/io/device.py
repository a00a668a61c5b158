"""What the device gives to one process that does nothing but move large pieces in order: the yardstick of a run.

sequential: through the page cache, flushed at the end; direct: past it (O_DIRECT), several pieces at a time, which is
what a rate that comes from memory is told by.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.ledger import now
from fathometer.lab.io.page_cache import drop
from fathometer.storage import atomic
from fathometer.storage.reading import reading

PIECE = 1 << 22  # bytes of one system call
AT_ONCE = 4  # direct calls under way
MOST_HELD = 1 << 26  # bytes of data that are written over and over


class Device:
    """A file of `size` bytes, rounded up to whole pieces, in a folder, written and read by this process.

    data: what is written, again and again; any real type.
    """

    def __init__(self, folder: Path, size: int, data: NDArray[np.generic]) -> None:
        self._path = folder / "raw.bin"
        self.size = max(1, -(-size // PIECE)) * PIECE
        held = data.reshape(-1).view(np.uint8)[:MOST_HELD]
        pieces = max(1, len(held) // PIECE)
        # Direct calls want memory that begins with a page.
        self._memory = mmap.mmap(-1, pieces * PIECE)
        self._data = np.frombuffer(self._memory, np.uint8)
        self._spare: SimpleQueue[mmap.mmap] = SimpleQueue()  # what is read into: a piece for each call under way
        for _ in range(AT_ONCE):
            self._spare.put(mmap.mmap(-1, PIECE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE))
        self._data[:] = np.resize(held, len(self._data)) if len(held) else 0

    def write(self, direct: bool) -> float | None:
        """Seconds from opening a new file to its closing, flushed; None where the file system knows no direct calls.

        Raises FathometerError where the file cannot be written.
        """
        atomic.remove(self._path)
        with atomic.writing(self._path):
            begin = now()
            handle = self._open(os.O_WRONLY | os.O_CREAT, direct)
            if handle is None:
                return None
            try:
                atomic.reserve(handle, self.size)
                self._each(lambda offset: self._put(handle, offset), direct)
                with ledger.flush():
                    os.fsync(handle)
            finally:
                os.close(handle)
            return now() - begin

    def read(self, direct: bool) -> float | None:
        """Seconds from opening the file to its closing. Whoever calls has dropped it from the page cache.

        Raises InputError where the file cannot be read.
        """
        with reading(self._path):
            begin = now()
            handle = self._open(os.O_RDONLY, direct)
            if handle is None:
                return None
            try:
                self._each(lambda offset: self._get(handle, offset), direct)
            finally:
                os.close(handle)
            return now() - begin

    def forgotten(self) -> float:
        """Have the system forget the file; the share of it that stayed in memory."""
        return drop(self._path)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def _open(self, flags: int, direct: bool) -> int | None:
        try:
            return os.open(self._path, flags | (os.O_DIRECT if direct else 0), 0o666)
        except OSError:
            if direct:
                return None
            raise

    def _each(self, move: Callable[[int], None], direct: bool) -> None:
        offsets = range(0, self.size, PIECE)
        with ledger.io(bytes=self.size):
            if direct:
                with ThreadPoolExecutor(AT_ONCE) as pool:
                    list(pool.map(move, offsets))
            else:
                for offset in offsets:
                    move(offset)

    def _piece(self, offset: int) -> memoryview:
        first = offset % len(self._data)
        return self._data[first : first + PIECE].data

    def _put(self, handle: int, offset: int) -> None:
        atomic.write_at(handle, self._piece(offset), offset)

    def _get(self, handle: int, offset: int) -> None:
        memory = self._spare.get()
        try:
            done = os.preadv(handle, [memory], offset)
        finally:
            self._spare.put(memory)
        if done != PIECE:
            raise OSError(f"read {done} bytes of {PIECE}")
