"""A NetCDF file that all ranks of a communicator have open by PnetCDF."""

from __future__ import annotations

import ctypes
import errno
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.parallel.collectives import allreduce
from fathometer.storage.volumes.boxes import Box, extent, slabs, within
from fathometer.storage.volumes.collective_file import mpi_hints, opening
from fathometer.storage.volumes.formats import pnetcdf
from fathometer.storage.volumes.strategy import COLLECTIVE, INDEPENDENT, NONBLOCKING, Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

LARGEST_CALL = 1 << 30  # bytes
MAGIC = b"CDF\x05"  # of CDF-5
NO_REQUEST = -1  # NC_REQ_NULL
# Offsets in the file must not depend on the hints of a user.
ALIGNMENT = {"nc_header_align_size": "4096", "nc_var_align_size": "4096"}


class NetcdfFile:
    """A NetCDF file that all ranks of a communicator have open; values move by a strategy."""

    def __init__(self, path: Path, comm: MPI.Intracomm, strategy: Strategy, create: bool) -> None:
        self._call = pnetcdf.library()
        self._path, self._comm, self._strategy = path, comm, strategy
        if ":" in os.fspath(path):  # the library would take what precedes it for the name of a file system
            raise OSError(errno.EINVAL, "PnetCDF does not take a colon in a file's name or folder")
        number = ctypes.c_int()
        mode = pnetcdf.CDF5 if create else 0
        info = mpi_hints((ALIGNMENT | dict(strategy.hints)).items())
        try:
            with ledger.io(), opening(path, comm):
                function = "create" if create else "open"
                self._call(function, handle_of(comm), os.fsencode(path), mode, handle_of(info), ctypes.byref(number))
        finally:
            info.Free()
        self.number = number.value

    def __call__(self, name: str, *arguments: Any) -> None:
        """Call a function of the library on this file."""
        self._call(name, self.number, *arguments)

    def inquire(self, name: str, *arguments: Any, kind: Any = ctypes.c_int) -> int:
        """The number that a function of the library returns by its last argument, of C type `kind`."""
        value = kind()
        self._call(name, self.number, *arguments, ctypes.byref(value))
        return int(value.value)

    def get(self, variable: int, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Collective. Read this rank's block, which may be empty, in calls of at most LARGEST_CALL bytes.

        All ranks make the same number of collective calls, also after one that failed.
        """
        hi = [a + n for a, n in zip(lo, block.shape, strict=True)]
        boxes: list[Box] = list(slabs(lo, hi, max(1, LARGEST_CALL // block.dtype.itemsize)))
        flat = block.reshape(-1)
        datatype = handle_of(datatype_of(block.dtype))
        errors: list[OSError] = []

        def attempt(name: str, *arguments: Any) -> None:
            try:
                self(name, *arguments)
            except OSError as error:
                errors.append(error)

        def transfer(name: str, box: Box, first: int, *more: Any) -> int:
            shape = extent(box)
            count = math.prod(shape)
            attempt(name, variable, longs(box[0]), longs(shape), flat[first:].ctypes.data, count, datatype, *more)
            return first + count

        first = 0
        most_calls = int(allreduce(self._comm, len(boxes), "MAX")) if self._strategy.name == COLLECTIVE else 0
        with ledger.io(bytes=block.nbytes):
            if self._strategy.name == INDEPENDENT:
                attempt("begin_indep_data")
                for box in boxes:
                    first = transfer("get_vara", box, first)
                attempt("end_indep_data")
            elif self._strategy.name == NONBLOCKING:
                requests = (ctypes.c_int * max(1, len(boxes)))()
                states = (ctypes.c_int * max(1, len(boxes)))()
                for number, box in enumerate(boxes):
                    request = ctypes.c_int()
                    first = transfer("iget_vara", box, first, ctypes.byref(request))
                    requests[number] = request.value
                attempt("begin_indep_data")
                attempt("wait", len(boxes), requests, states)
                attempt("end_indep_data")
            else:
                empty = tuple(lo), tuple(lo)
                for box in boxes + [empty] * (most_calls - len(boxes)):
                    first = transfer("get_vara_all", box, first)
        if errors:
            raise errors[0]

    def text(self, variable: int, key: str, text: str) -> None:
        """Give a variable, or the file by pnetcdf.GLOBAL, an attribute of text."""
        data = text.encode(errors="backslashreplace")  # names of files need not be UTF-8
        self("put_att_text", variable, key.encode(), len(data), data)

    def numbers(self, variable: int, key: str, kind: int, numbers: Sequence[float]) -> None:
        """The same with numbers, of type code `kind` in the file."""
        values = (ctypes.c_double * len(numbers))(*numbers)
        self("put_att_double", variable, key.encode(), kind, len(numbers), values)

    def put(self, variable: int, boxes: Sequence[tuple[Sequence[int], NDArray[Any]]]) -> None:
        """Collective. Write this rank's boxes, perhaps none: first cell and values, C-contiguous and writeable.

        All ranks make the same number of collective calls, each of at most some LARGEST_CALL bytes a rank.
        """
        rounds = _rounds(boxes)
        if self._strategy.name == COLLECTIVE:
            rounds += [[]] * (int(allreduce(self._comm, len(rounds), "MAX")) - len(rounds))
        errors: list[OSError] = []

        def attempt(name: str, *arguments: Any) -> None:
            try:
                self(name, *arguments)
            except OSError as error:
                errors.append(error)

        with ledger.io(bytes=sum(values.nbytes for _, values in boxes)):
            if self._strategy.name != COLLECTIVE:
                attempt("begin_indep_data")
            for part in rounds:
                requests = (ctypes.c_int * max(1, len(part)))(*[NO_REQUEST] * len(part))
                states = (ctypes.c_int * max(1, len(part)))()
                for number, (lo, values) in enumerate(part):
                    where = longs(lo), longs(values.shape), values.ctypes.data, values.size
                    if self._strategy.name == INDEPENDENT:
                        attempt("put_vara", variable, *where, handle_of(datatype_of(values.dtype)))
                        continue
                    request = ctypes.c_int()
                    attempt("iput_vara", variable, *where, handle_of(datatype_of(values.dtype)), ctypes.byref(request))
                    requests[number] = request.value
                if self._strategy.name != INDEPENDENT:
                    attempt("wait_all" if self._strategy.name == COLLECTIVE else "wait", len(part), requests, states)
                    errors += [pnetcdf.PnetcdfError(errno.EIO, "PnetCDF: a request failed") for s in states if s]
            if self._strategy.name != COLLECTIVE:
                attempt("end_indep_data")
        if errors:
            raise errors[0]

    def close(self) -> None:
        """Collective. Close the file."""
        number, self.number = self.number, -1
        if number >= 0:
            with ledger.io():
                self._call("close", number)

    def verify_header(self) -> None:
        """Of a file that was created and closed: OSError, on rank 0, where its header is not there. MPI-IO may have
        lost it without an error, see spot_check.py."""
        if self._comm.rank == 0:
            with self._path.open("rb") as file:
                if file.read(len(MAGIC)) != MAGIC:
                    raise OSError(errno.EIO, "its header is not in the file, although no write failed")


def handle_of(mpi_object: Any) -> ctypes.c_void_p:
    """The pointer by which Open MPI's C functions know an MPI object."""
    from mpi4py import MPI

    return ctypes.c_void_p(MPI._handleof(mpi_object))


def datatype_of(dtype: np.dtype[Any]) -> Any:
    """MPI's datatype of an array's values."""
    from mpi4py.util import dtlib

    return dtlib.from_numpy_dtype(dtype)


def longs(numbers: Sequence[int]) -> Any:
    """An array of C's long long."""
    return (ctypes.c_longlong * len(numbers))(*map(int, numbers))


def _rounds(boxes: Sequence[tuple[Sequence[int], NDArray[Any]]]) -> list[list[tuple[Sequence[int], NDArray[Any]]]]:
    """The boxes, cut where they are large, in groups of at most LARGEST_CALL bytes; values stay where they are."""
    found: list[list[tuple[Sequence[int], NDArray[Any]]]] = []
    room = 0
    for lo, values in boxes:
        hi = [a + n for a, n in zip(lo, values.shape, strict=True)]
        number: list[Box] = [((), ())]
        for box in slabs(lo, hi, max(1, LARGEST_CALL // values.dtype.itemsize)) if lo else number:
            part = values[within(box, lo)] if lo else values  # cut along the slowest axes, so that it is contiguous too
            if not found or part.nbytes > room:
                found.append([])
                room = LARGEST_CALL
            found[-1].append((box[0], part))
            room -= part.nbytes
    return found
