"""Raw arrays by MPI-IO, whichever of its implementations the launcher chose.

The file's view is the rank's block; what one call moves are at most LARGEST_CALL bytes of it. All ranks make the same
number of collective calls, those that have less with nothing in them, and also where a call failed: none waits for
another that has given up.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import allreduce, collective_errors
from fathometer.storage.volumes.boxes import Box, runs
from fathometer.storage.volumes.collective_file import allocate_block, check_opening, mpi_hints
from fathometer.storage.volumes.raw_array import RawArray
from fathometer.storage.volumes.spot_check import SpotCheck
from fathometer.storage.volumes.strategy import Strategy

LARGEST_CALL = 1 << 30  # bytes
ELEMENT_BYTES = 160  # of memory inside MPI that an element of a list costs, about
MOST_LISTED = 1 << 30  # bytes of memory that a rank's list of elements may cost


class MpiFile:
    """A file that all ranks of a communicator have open."""

    def __init__(self, array: RawArray, strategy: Strategy, comm: MPI.Intracomm, write: bool) -> None:
        self._array, self._strategy, self._comm = array, strategy, comm
        self._file: MPI.File | None = None
        check_opening(array.path, comm, os.O_WRONLY if write else os.O_RDONLY)
        info = mpi_hints(strategy.hints)
        try:
            with ledger.io():
                mode = MPI.MODE_WRONLY if write else MPI.MODE_RDONLY
                self._file = MPI.File.Open(comm, os.fspath(array.path), mode, info)
        except MPI.Exception as error:
            raise _system_error(error) from None
        finally:
            info.Free()
        self._element = MPI.BYTE.Create_contiguous(array.dtype.itemsize).Commit()
        self._spot_check = SpotCheck() if write else None
        self._sync = write and strategy.sync == "fsync"

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """See RawFile.write."""
        self._move(block, lo, True)
        if self._spot_check is not None:
            self._spot_check.record(block, lo)

    def read(self, box: Box) -> NDArray[Any]:
        """See RawFile.read."""
        block = allocate_block(self._array.path, box, self._array.dtype, self._comm)
        self._move(block, box[0], False)
        return block

    def _move(self, block: NDArray[Any], lo: Sequence[int], write: bool) -> None:
        """Collective. The calls of all ranks for their blocks."""
        item, by_view = self._array.dtype.itemsize, self._strategy.datatype != "contiguous"
        with collective_errors(self._comm):
            calls = self._calls(block.shape, lo)
            kind = self._view(block.shape, lo) if by_view else None
        most = int(allreduce(self._comm, len(calls), "MAX"))
        flat = block.reshape(-1)
        errors: list[OSError] = []
        requests: list[tuple[MPI.Request, int]] = []
        with ledger.io(bytes=flat.nbytes):
            if kind is not None:
                errors += _failures(lambda: self._open_file.Set_view(self._array.start, self._element, kind))
                kind.Free()
            for cell, place, count in calls + [(0, 0, 0)] * (most - len(calls)):
                part = [flat[cell : cell + count], count, self._element]
                offset = place if by_view else self._array.start + place * item
                errors += _failures(partial(self._call, part, offset, count, write, requests))
            for request, count in requests:
                errors += _failures(partial(self._finish, request, count))
        if errors:
            raise errors[0]

    def _calls(self, shape: Sequence[int], lo: Sequence[int]) -> list[tuple[int, int, int]]:
        """(cell of the block, place in the view or in the array, cells) of each call."""
        longest = max(1, LARGEST_CALL // self._array.dtype.itemsize)
        if self._strategy.datatype == "contiguous":
            spans = list(runs(self._array.shape, shape, lo))
        else:
            spans = [(0, 0, math.prod(shape))]  # the view is the block, seen as one row
        return [
            (cell + first, place + first, min(longest, count - first))
            for cell, place, count in spans
            for first in range(0, count, longest)
        ]

    def _call(
        self, part: list[Any], offset: int, count: int, write: bool, requests: list[tuple[MPI.Request, int]]
    ) -> None:
        file, status = self._open_file, MPI.Status()
        match self._strategy.name:
            case "mpiio-collective":
                (file.Write_at_all if write else file.Read_at_all)(offset, part, status)
            case "mpiio-nonblocking":
                if count:
                    requests.append(((file.Iwrite_at if write else file.Iread_at)(offset, part), count))
                return
            case _:
                if not count:
                    return
                (file.Write_at if write else file.Read_at)(offset, part, status)
        self._check_count(status, count)

    def _finish(self, request: MPI.Request, count: int) -> None:
        status = MPI.Status()
        while not request.Get_status(status):
            pass
        # Open MPI 4.1.4 crashes where a request that failed is waited for.
        if status.Get_error() != MPI.SUCCESS:
            raise _system_error(MPI.Exception(status.Get_error()))
        self._check_count(status, count)
        request.Wait()

    def _check_count(self, status: MPI.Status, count: int) -> None:
        moved = status.Get_count(MPI.BYTE)
        if moved != count * self._array.dtype.itemsize:
            raise OSError(errno.EIO, f"MPI moved {moved} bytes of {count * self._array.dtype.itemsize}")

    def _view(self, shape: Sequence[int], lo: Sequence[int]) -> MPI.Datatype:
        """The type of what this rank sees of the array: its block."""
        elements = math.prod(shape)
        if elements == 0:
            kind = self._element.Dup()
        elif self._strategy.datatype == "subarray":
            kind = self._element.Create_subarray(list(self._array.shape), list(shape), list(lo))
        else:
            self._check_list(elements)
            kind = self._element.Create_hindexed([1] * elements, self._places(shape, lo))
        return kind.Commit()

    def _places(self, shape: Sequence[int], lo: Sequence[int]) -> list[int]:
        """Byte of each element of a block, from the start of the array."""
        item = self._array.dtype.itemsize
        places = np.concatenate(
            [np.arange(place, place + count) for _, place, count in runs(self._array.shape, shape, lo)]
        )
        return (places * item).tolist()  # type: ignore[no-any-return]

    def _check_list(self, elements: int) -> None:
        if elements * ELEMENT_BYTES > MOST_LISTED:
            raise FathometerError(
                f"{self._array.path}: datatype=hindexed: a list of {elements} elements would take some "
                f"{elements * ELEMENT_BYTES} bytes of memory on a rank; allowed: {MOST_LISTED} bytes, that is "
                f"{MOST_LISTED // ELEMENT_BYTES} elements"
            )

    @property
    def _open_file(self) -> MPI.File:
        assert self._file is not None, "the file is closed"
        return self._file

    def flush(self) -> None:
        """See RawFile.flush."""
        if self._sync and self._file is not None:
            try:
                with ledger.flush():
                    self._file.Sync()
            except MPI.Exception as error:
                raise _system_error(error) from None

    def close(self) -> None:
        """See RawFile.close."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            with ledger.io():
                file.Close()
        except MPI.Exception as error:
            raise _system_error(error) from None
        finally:
            self._element.Free()
        if self._spot_check is not None:
            self._spot_check.verify_raw(self._array)


def _failures(step: Callable[[], Any]) -> list[OSError]:
    """Take a step; the error that it ended with, if any, as one of the system."""
    try:
        step()
    except MPI.Exception as error:
        return [_system_error(error)]
    except OSError as error:
        return [error]
    return []


def _system_error(error: MPI.Exception) -> OSError:
    """An error of MPI as one of the system, as far as its class tells."""
    codes = {
        MPI.ERR_NO_SPACE: errno.ENOSPC,
        MPI.ERR_QUOTA: errno.EDQUOT,
        MPI.ERR_ACCESS: errno.EACCES,
        MPI.ERR_READ_ONLY: errno.EROFS,
        MPI.ERR_NO_SUCH_FILE: errno.ENOENT,
    }
    code = codes.get(error.Get_error_class())
    return (
        OSError(errno.EIO, f"MPI-IO: {error.Get_error_string()}") if code is None else OSError(code, os.strerror(code))
    )
