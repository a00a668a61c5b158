"""The device's own rate: one process that moves large pieces in order. Strategies are compared with it.

sequential: through the page cache, flushed at the end; direct: past it (O_DIRECT), several pieces at a time. A rate
far above both comes from memory.
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
from fathometer.base.removal import remove_file
from fathometer.lab.io.page_cache import drop
from fathometer.storage import atomic
from fathometer.storage.reading import reading

PIECE_BYTES = 1 << 22  # bytes of one system call
CALLS_AT_ONCE = 4  # direct calls in flight
PATTERN_BYTES = 1 << 26  # of the data that is written repeatedly


class Device:
    """A file of `size` bytes, rounded up to whole pieces, in a folder, written and read by this process.

    data: what is written repeatedly; any real type.
    """

    def __init__(self, folder: Path, size: int, data: NDArray[np.generic]) -> None:
        self._path = folder / "raw.bin"
        self.size = max(1, -(-size // PIECE_BYTES)) * PIECE_BYTES
        pattern = data.reshape(-1).view(np.uint8)[:PATTERN_BYTES]
        pieces = max(1, len(pattern) // PIECE_BYTES)
        # Direct calls want memory that begins with a page.
        self._memory = mmap.mmap(-1, pieces * PIECE_BYTES)
        self._data = np.frombuffer(self._memory, np.uint8)
        self._read_buffers: SimpleQueue[mmap.mmap] = SimpleQueue()  # a piece for each call in flight
        for _ in range(CALLS_AT_ONCE):
            self._read_buffers.put(
                mmap.mmap(-1, PIECE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)
            )
        self._data[:] = np.resize(pattern, len(self._data)) if len(pattern) else 0

    def write(self, direct: bool) -> float | None:
        """Seconds from opening a new file to its closing, flushed; None where the file system knows no direct calls.

        Raises FathometerError where the file cannot be written.
        """
        remove_file(self._path)
        with atomic.writing(self._path):
            begin = now()
            handle = self._open(os.O_WRONLY | os.O_CREAT, direct)
            if handle is None:
                return None
            try:
                atomic.reserve(handle, self.size)
                self._each_piece(lambda offset: self._write_piece(handle, offset), direct)
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
                self._each_piece(lambda offset: self._read_piece(handle, offset), direct)
            finally:
                os.close(handle)
            return now() - begin

    def drop_cache(self) -> float:
        """Drop the file from the page cache; the share of it that stayed in memory."""
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

    def _each_piece(self, move_piece: Callable[[int], None], direct: bool) -> None:
        offsets = range(0, self.size, PIECE_BYTES)
        with ledger.io(bytes=self.size):
            if direct:
                with ThreadPoolExecutor(CALLS_AT_ONCE) as pool:
                    list(pool.map(move_piece, offsets))
            else:
                for offset in offsets:
                    move_piece(offset)

    def _piece(self, offset: int) -> memoryview:
        first = offset % len(self._data)
        return self._data[first : first + PIECE_BYTES].data

    def _write_piece(self, handle: int, offset: int) -> None:
        atomic.write_at(handle, self._piece(offset), offset)

    def _read_piece(self, handle: int, offset: int) -> None:
        memory = self._read_buffers.get()
        try:
            done = os.preadv(handle, [memory], offset)
        finally:
            self._read_buffers.put(memory)
        if done != PIECE_BYTES:
            raise OSError(f"read {done} bytes of {PIECE_BYTES}")
