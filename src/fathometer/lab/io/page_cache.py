"""The system's page cache: files are taken out of it, and it is looked up whether that came true (Linux)."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path

import numpy as np

from fathometer.storage.fingerprint import files_of


def stored_bytes(path: Path) -> int:
    """Bytes of all files of a volume."""
    return sum(one.stat().st_size for one in files_of(path))


def drop(path: Path) -> float:
    """Have the system forget the files of a volume on this host; the share of their bytes that stayed in memory.

    1 where the system does not tell. Some file systems, such as those that live in memory, forget nothing.
    """
    kept = whole = 0
    for one in files_of(path):
        handle = os.open(one, os.O_RDONLY)
        try:
            os.fsync(handle)  # what is not on the device cannot be forgotten
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            size = os.fstat(handle).st_size
            whole += size
            kept += resident(handle, size)
        finally:
            os.close(handle)
    return min(1.0, kept / whole) if whole else 0.0


def resident(handle: int, size: int) -> int:
    """Bytes of an open file that are in memory, in whole pages; `size` where the system does not tell."""
    if size == 0:
        return 0
    with mmap.mmap(handle, size, prot=mmap.PROT_READ) as mapped:
        view = np.frombuffer(mapped, np.uint8)
        pages = np.zeros(-(-size // mmap.PAGESIZE), np.uint8)
        call = ctypes.CDLL(None, use_errno=True).mincore
        failed = call(ctypes.c_void_p(view.ctypes.data), ctypes.c_size_t(size), pages.ctypes.data_as(ctypes.c_void_p))
        del view  # or the mapping could not be closed
    return size if failed else int(np.count_nonzero(pages & 1)) * mmap.PAGESIZE
