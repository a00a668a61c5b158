"""The page cache (Linux): drop files from it, and find out which part of them stayed."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path

import numpy as np

from fathometer.storage.fingerprint import parts_of


def stored_bytes(path: Path) -> int:
    """Bytes of all files of a volume."""
    return sum(file_path.stat().st_size for file_path in files_of(path))


def files_of(path: Path) -> list[Path]:
    """The existing files of a volume that this program has written."""
    if path.is_dir():
        return [file for file in sorted(path.rglob("*")) if file.is_file()]
    return [file for file in parts_of(path) if file.exists()]


def drop(path: Path) -> float:
    """Drop the files of a volume from this host's page cache; the share of their bytes that stayed in memory.

    1 where the system cannot say. Some file systems, such as those that live in memory, drop nothing.
    """
    kept = whole = 0
    for file_path in files_of(path):
        stayed, size = drop_file(file_path)
        kept, whole = kept + stayed, whole + size
    return min(1.0, kept / whole) if whole else 0.0


def drop_file(path: Path) -> tuple[int, int]:
    """Drop a file from this host's page cache; its bytes that stayed in memory, in whole pages, and all of them."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)  # pages that are not on the device yet cannot be dropped
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        size = os.fstat(handle).st_size
        return resident(handle, size), size
    finally:
        os.close(handle)


def resident(handle: int, size: int) -> int:
    """Bytes of an open file that are in memory, in whole pages; `size` where the system cannot say."""
    if size == 0:
        return 0
    with mmap.mmap(handle, size, prot=mmap.PROT_READ) as mapped:
        view = np.frombuffer(mapped, np.uint8)
        try:
            pages = np.zeros(-(-size // mmap.PAGESIZE), np.uint8)
            call = ctypes.CDLL(None, use_errno=True).mincore
            places = pages.ctypes.data_as(ctypes.c_void_p)
            failed = call(ctypes.c_void_p(view.ctypes.data), ctypes.c_size_t(size), places)
        finally:
            del view  # or the mapping could not be closed, also after an interruption
    return size if failed else int(np.count_nonzero(pages & 1)) * mmap.PAGESIZE
