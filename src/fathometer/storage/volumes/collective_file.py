"""Collective steps around a file that several ranks open: checks beforehand, MPI-IO hints, memory for a block."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.storage.volumes.boxes import Box, extent

if TYPE_CHECKING:
    from mpi4py import MPI


def check_opening(path: Path, comm: MPI.Intracomm, flags: int) -> None:
    """Collective. OSError, the same on all ranks, where some rank cannot open the file: MPI-IO itself might hang."""
    failures: list[OSError] = []
    try:
        os.close(os.open(path, flags))
    except OSError as error:
        failures.append(error)
    for rank_failures in allgather(comm, failures):
        if rank_failures:
            raise rank_failures[0]


def mpi_hints(pairs: Iterable[tuple[str, str]]) -> MPI.Info:
    """MPI-IO hints as an MPI.Info, to be freed by the caller; OSError where MPI does not take one of them."""
    from mpi4py import MPI

    info = MPI.Info.Create()
    for key, value in pairs:
        try:
            info.Set(key, value)
        except MPI.Exception:
            info.Free()
            raise OSError(errno.EINVAL, f"MPI does not take the hint {key}={value}") from None
    return info


def allocate_block(path: Path, box: Box, dtype: np.dtype[Any], comm: MPI.Intracomm) -> NDArray[Any]:
    """Collective. Zeros for a box, since HDF5 may leave memory as it is; FathometerError, the same on all ranks, where
    one lacks memory."""
    with collective_errors(comm):
        try:
            return np.zeros(extent(box), dtype)
        except MemoryError:
            raise FathometerError(f"{path}: not enough memory for a block of {extent(box)} cells") from None
