"""Raw arrays by MPI-IO.

The file view is the rank's block, of an array of steps the block of one step over and over; one call moves at most
LARGEST_CALL bytes of it. All ranks make the same number of
collective calls, empty ones where a rank has less to move, also after a call that failed: no rank waits for another.
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
from fathometer.storage.atomic import failure
from fathometer.storage.volumes.boxes import Box, runs
from fathometer.storage.volumes.collective_file import (
    allocate_block,
    await_others,
    check_opening,
    mpi_hints,
    opening,
)
from fathometer.storage.volumes.raw_array import RawArray
from fathometer.storage.volumes.spot_check import SpotCheck
from fathometer.storage.volumes.strategy import Strategy

LARGEST_CALL = 1 << 30  # bytes
ELEMENT_BYTES = 160  # of memory inside MPI for an element of an indexed datatype, about
LARGEST_LIST_BYTES = 1 << 30  # of memory for a rank's indexed datatype


class MpiFile:
    """A raw array in a file that MPI-IO reads or writes for all ranks together."""

    def __init__(self, array: RawArray, strategy: Strategy, comm: MPI.Intracomm, write: bool) -> None:
        self._array, self._strategy, self._comm = array, strategy, comm
        self._file: MPI.File | None = None
        check_opening(array.path, comm, os.O_WRONLY if write else os.O_RDONLY)
        info = mpi_hints(strategy.hints)
        try:
            with ledger.io(), opening(array.path, comm):
                mode = MPI.MODE_WRONLY if write else MPI.MODE_RDONLY
                self._file = MPI.File.Open(comm, os.fspath(array.path), mode, info)
        except MPI.Exception as error:
            raise system_error(error) from None
        finally:
            info.Free()
        self._element = MPI.BYTE.Create_contiguous(array.dtype.itemsize).Commit()
        self._step_view: tuple[Any, MPI.Datatype] | None = None  # of which block it is, and it
        self._spot_check = SpotCheck() if write else None
        self._sync = write and strategy.sync == "fsync"

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write a block, C-contiguous and of the array's dtype, to the array's cells from `lo` on."""
        self._move(block, lo, True)
        if self._spot_check is not None:
            self._spot_check.record(block, lo)

    def read(self, box: Box) -> NDArray[Any]:
        """The block of a box, in the array's dtype."""
        block = allocate_block(self._array.path, box, self._array.dtype, self._comm)
        self._move(block, box[0], False)
        return block

    def _move(self, block: NDArray[Any], lo: Sequence[int], write: bool) -> None:
        """Collective. Read or write this rank's block, from cell `lo` on."""
        item, by_view = self._array.dtype.itemsize, self._strategy.datatype != "contiguous"
        with collective_errors(self._comm):
            calls = self._calls(block.shape, lo)
            view = self._view(block.shape, lo) if by_view else None
        most_calls = int(allreduce(self._comm, len(calls), "MAX"))
        flat = block.reshape(-1)
        errors: list[OSError] = []
        requests: list[tuple[MPI.Request, int]] = []
        with ledger.io(bytes=flat.nbytes):
            if view is not None:
                begin = self._first_byte(block.shape, lo)
                errors += failures(lambda: self._open_file.Set_view(begin, self._element, view))
                if not self._array.stepped:
                    view.Free()
            for block_cell, file_cell, count in calls + [(0, 0, 0)] * (most_calls - len(calls)):
                buffer = [flat[block_cell : block_cell + count], count, self._element]
                offset = file_cell if by_view else self._array.start + file_cell * item
                errors += failures(partial(self._call, buffer, offset, count, write, requests))
            for request, count in requests:
                errors += failures(partial(self._finish, request, count))
        if write and self._strategy.name == "mpiio-collective":
            self._await_others(errors)
        if errors:
            raise errors[0]

    def _await_others(self, errors: list[OSError]) -> None:
        """Collective. Open MPI's own MPI-IO (4.1.4), once an aggregator could not write, may lose count of the messages
        of a file: ranks then wait for each other in later calls."""
        await_others(self._array.path, self._comm, failure(self._array.path, errors[0]) if errors else None)

    def _calls(self, shape: Sequence[int], lo: Sequence[int]) -> list[tuple[int, int, int]]:
        """(first cell in the block, first cell in the view or in the array, cells) of each call."""
        longest = max(1, LARGEST_CALL // self._array.dtype.itemsize)
        if self._strategy.datatype == "contiguous":
            spans = list(runs(self._array.shape, shape, lo))
        else:
            spans = [(0, 0, math.prod(shape))]  # the view is the block, contiguous
        return [
            (block_cell + first, file_cell + first, min(longest, count - first))
            for block_cell, file_cell, count in spans
            for first in range(0, count, longest)
        ]

    def _call(
        self, buffer: list[Any], offset: int, count: int, write: bool, requests: list[tuple[MPI.Request, int]]
    ) -> None:
        file, status = self._open_file, MPI.Status()
        match self._strategy.name:
            case "mpiio-collective":
                (file.Write_at_all if write else file.Read_at_all)(offset, buffer, status)
            case "mpiio-nonblocking":
                if count:
                    requests.append(((file.Iwrite_at if write else file.Iread_at)(offset, buffer), count))
                return
            case _:
                if not count:
                    return
                (file.Write_at if write else file.Read_at)(offset, buffer, status)
        self._check_count(status, count)

    def _finish(self, request: MPI.Request, count: int) -> None:
        status = MPI.Status()
        while not request.Get_status(status):
            pass
        # Open MPI 4.1.4 crashes on waiting for a request that failed.
        if status.Get_error() != MPI.SUCCESS:
            raise system_error(MPI.Exception(status.Get_error()))
        self._check_count(status, count)
        request.Wait()

    def _check_count(self, status: MPI.Status, count: int) -> None:
        check_moved(status, count * self._array.dtype.itemsize)

    def _view(self, shape: Sequence[int], lo: Sequence[int]) -> MPI.Datatype:
        """The datatype of the file view: this rank's block within the array.

        Of an array of steps that of a step, which MPI repeats; it is kept for the next ones.
        """
        if not self._array.stepped:
            return self._committed(self._array.shape, shape, lo)
        place = tuple(shape[1:]), tuple(lo[1:])
        if self._step_view is None or self._step_view[0] != place:
            self._free_step_view()
            self._step_view = place, self._committed(self._array.shape[1:], *place)
        return self._step_view[1]

    def _free_step_view(self) -> None:
        kept, self._step_view = self._step_view, None
        if kept is not None:
            kept[1].Free()

    def _committed(self, whole: Sequence[int], shape: Sequence[int], lo: Sequence[int]) -> MPI.Datatype:
        """The datatype of a block within an array of shape `whole`."""
        if math.prod(shape) == 0:
            return self._element.Dup().Commit()
        if self._strategy.datatype == "subarray":
            view = self._element.Create_subarray(list(whole), list(shape), list(lo))
        else:
            elements = math.prod(shape)
            self._check_list(elements)
            offsets = self._byte_offsets(whole, shape, lo)
            view = self._element.Create_hindexed([1] * elements, offsets)
            if self._array.stepped:
                of_elements, size = view, math.prod(whole) * self._array.dtype.itemsize
                view = of_elements.Create_resized(0, size)
                of_elements.Free()
        return view.Commit()

    def _first_byte(self, shape: Sequence[int], lo: Sequence[int]) -> int:
        """Byte at which the file view begins: that of the block's first step, where there is one."""
        if not self._array.stepped or math.prod(shape) == 0:
            return self._array.start
        return self._array.start + lo[0] * math.prod(self._array.shape[1:]) * self._array.dtype.itemsize

    def _byte_offsets(self, whole: Sequence[int], shape: Sequence[int], lo: Sequence[int]) -> list[int]:
        """Byte offset of each element of a block from the start of the array of shape `whole`."""
        item = self._array.dtype.itemsize
        cells = np.concatenate([np.arange(first, first + count) for _, first, count in runs(whole, shape, lo)])
        return (cells * item).tolist()  # type: ignore[no-any-return]

    def _check_list(self, elements: int) -> None:
        if elements * ELEMENT_BYTES > LARGEST_LIST_BYTES:
            raise FathometerError(
                f"{self._array.path}: datatype=hindexed: a list of {elements} elements would take some "
                f"{elements * ELEMENT_BYTES} bytes of memory on a rank; allowed: {LARGEST_LIST_BYTES} bytes, that is "
                f"{LARGEST_LIST_BYTES // ELEMENT_BYTES} elements"
            )

    @property
    def _open_file(self) -> MPI.File:
        assert self._file is not None, "the file is closed"
        return self._file

    def flush(self) -> None:
        """Collective. Have what was written on the device, where the strategy asks for it."""
        if self._sync and self._file is not None:
            with ledger.flush():
                errors = failures(self._file.Sync)
            self._await_others(errors)
            if errors:
                raise errors[0]

    def close(self) -> None:
        """Collective. Close the file, once."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            with ledger.io():
                file.Close()
        except MPI.Exception as error:
            raise system_error(error) from None
        finally:
            self._free_step_view()
            self._element.Free()
        if self._spot_check is not None:
            self._spot_check.verify_raw(self._array)


def failures(step: Callable[[], Any]) -> list[OSError]:
    """Run a step; the error that it raised, if any, as an OSError."""
    try:
        step()
    except MPI.Exception as error:
        return [system_error(error)]
    except OSError as error:
        return [error]
    return []


def check_moved(status: MPI.Status, size: int) -> None:
    """Raises OSError where a call has moved another number of bytes."""
    moved = status.Get_count(MPI.BYTE)
    if moved != size:
        raise OSError(errno.EIO, f"MPI moved {moved} bytes of {size}")


def system_error(error: MPI.Exception) -> OSError:
    """An MPI error as an OSError, with the errno of its class where there is one."""
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
