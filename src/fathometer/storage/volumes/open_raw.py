"""Opening a raw array's file by a strategy: POSIX calls or MPI-IO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fathometer.storage.volumes.posix import PosixFile
from fathometer.storage.volumes.raw_array import RawArray, RawFile
from fathometer.storage.volumes.strategy import ROOT, SHARED, Strategy

if TYPE_CHECKING:
    from mpi4py import MPI


def open_raw(array: RawArray, strategy: Strategy, comm: MPI.Intracomm, write: bool) -> RawFile:
    """Collective. Open the file of an array by a strategy; OSError where the system refuses it on some rank."""
    if strategy.name in (SHARED, ROOT):
        return PosixFile(array, strategy, write)
    from fathometer.storage.volumes.mpiio import MpiFile

    return MpiFile(array, strategy, comm, write)
