"""How long HDF5's compression filters work, apart from the writing that they are part of.

The library calls a filter by its entry in a table (H5Z_class2_t, H5Zregister). One of hdf5plugin is registered once
more, with a function that calls its own and adds up its time.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from functools import cache

from fathometer import _native
from fathometer.storage.volumes.compression import Compression


class _FilterClass(ctypes.Structure):
    """H5Z_class2_t."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("id", ctypes.c_int),
        ("encoder_present", ctypes.c_uint),
        ("decoder_present", ctypes.c_uint),
        ("name", ctypes.c_char_p),
        ("can_apply", ctypes.c_void_p),
        ("set_local", ctypes.c_void_p),
        ("filter", ctypes.c_void_p),
    )


@cache
def watch(name: str) -> object:
    """Have the time of a filter of hdf5plugin counted from now on. What the library goes on using is returned, and kept
    by the cache; None: the filter is another's, whose time is not known."""
    import h5py
    import hdf5plugin

    path = os.path.join(hdf5plugin.PLUGIN_PATH, f"libh5{name}.so")  # where HDF5_PLUGIN_PATH is set, nothing else says
    if not os.path.isfile(path):
        return None
    library = ctypes.CDLL(path)
    library.H5PLget_plugin_info.restype = ctypes.POINTER(_FilterClass)
    entry = _FilterClass.from_buffer_copy(library.H5PLget_plugin_info().contents)
    entry.filter = _native.timed_filter(entry.filter)
    h5py.h5z.register_filter(ctypes.addressof(entry))
    return library, entry


@contextlib.contextmanager
def counted(compression: Compression | None) -> Iterator[None]:
    """Add the seconds that watched filters work meanwhile."""
    before = _native.filter_seconds()
    yield
    if compression is not None:
        compression.compress_seconds += _native.filter_seconds() - before
