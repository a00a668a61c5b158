"""How long HDF5's compression filters work, apart from the writing that they are part of.

The library calls a filter by its entry in a table (H5Z_class2_t, H5Zregister). One of hdf5plugin is registered once
more, with a function that calls its own and adds up the time of both directions.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

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


_watched: dict[str, tuple[Any, _FilterClass]] = {}  # kept: the library goes on using them


def watch(name: str) -> None:
    """Have the time of a filter of hdf5plugin counted from now on."""
    import h5py
    import hdf5plugin

    if name in _watched:
        return
    library = ctypes.CDLL(hdf5plugin.get_config().registered_filters[name])
    library.H5PLget_plugin_info.restype = ctypes.POINTER(_FilterClass)
    entry = _FilterClass.from_buffer_copy(library.H5PLget_plugin_info().contents)
    entry.filter = _native.timed_filter(entry.filter)
    h5py.h5z.register_filter(ctypes.addressof(entry))
    _watched[name] = library, entry


@contextlib.contextmanager
def counted(compression: Compression | None) -> Iterator[None]:
    """Add the seconds that watched filters work meanwhile."""
    before = _native.filter_seconds()
    yield
    if compression is not None:
        compression.compress_seconds += _native.filter_seconds() - before
