"""Writing a NetCDF file by all ranks of a communicator, each its boxes; it appears whole or not at all.

    mpiio-collective    PnetCDF: a variable's boxes of all ranks in one call (MPI-IO); the usual way
    mpiio-independent   PnetCDF: each rank its boxes, one after the other
    mpiio-nonblocking   PnetCDF: each rank its boxes, all begun, then waited for
    root-broadcast      rank 0 gathers the boxes and writes them

The first three write CDF-5. Where there is no PnetCDF, rank 0 gathers the boxes and SciPy writes them: CDF-2, at most
2 GiB a variable, all of the file in the memory of rank 0. As in shared_writer.py the ranks agree on the outcome of
each step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import LARGEST_MESSAGE, allgather, collective_errors
from fathometer.storage import atomic
from fathometer.storage.datasets.dataset import Dataset, Variable
from fathometer.storage.datasets.outputs import Output, ScipyOutput, pnetcdf_output
from fathometer.storage.shared_writer import SharedWriter
from fathometer.storage.volumes.formats import pnetcdf
from fathometer.storage.volumes.formats.netcdf_output import Boxes
from fathometer.storage.volumes.strategy import AUTO, COLLECTIVE, INDEPENDENT, NONBLOCKING, ROOT, Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

STRATEGIES = (COLLECTIVE, INDEPENDENT, NONBLOCKING, ROOT)
TAG = 78


def chosen_strategy(path: Path, strategy: Strategy | None = None) -> Strategy:
    """The strategy by which a file is written here, `auto` replaced; InputError where it is none of STRATEGIES, or has
    options that NetCDF does not have, or needs PnetCDF where that is missing."""
    strategy = strategy or Strategy()
    if strategy.name not in (AUTO, *STRATEGIES):
        raise InputError(f"{path}: NetCDF is not written by {strategy.name} (allowed: {', '.join(STRATEGIES)})")
    if strategy.filter != "none":
        raise InputError(f"{path}: NetCDF is not written with filter={strategy.filter} (allowed: none)")
    if strategy.levels:
        raise InputError(f"{path}: NetCDF is not written with levels (allowed: without)")
    missing = pnetcdf.missing()
    if strategy.name == AUTO:
        name = ROOT if missing else COLLECTIVE
        usual = Strategy.of(name)
        return Strategy(name, usual.datatype, "none" if strategy.sync == "none" else usual.sync)
    if missing and strategy.name != ROOT:
        raise InputError(f"{path}: {missing}")
    return strategy


class DatasetWriter(SharedWriter[Output]):
    """A NetCDF file being written by all ranks; collective, each of its methods too. A context manager, which closes.

    Args:
        dataset: the same on all ranks. strategy: how, see above; None: the usual way.

    Raises InputError: names, shapes, strategy; FathometerError: a failure of the system. Both the same on all ranks,
    and none of the file is left.
    """

    def __init__(self, path: Path, dataset: Dataset, comm: MPI.Intracomm, strategy: Strategy | None = None) -> None:
        from mpi4py import MPI

        with collective_errors(comm):
            dataset.check(path)
            self.strategy = chosen_strategy(path, strategy)
        super().__init__(path, comm, self.strategy.sync != "none")
        self.dataset = dataset
        self._variables = {variable.name: variable for variable in dataset.variables}
        self._cells = dict.fromkeys(self._variables, 0)
        self._through_root = self.strategy.name == ROOT
        self._failure: OSError | None = None  # of rank 0, while it gathers
        part = self._create(lambda: [atomic.NewFile(path)])
        with self._step():
            if self._through_root and comm.rank == 0 and pnetcdf.missing():
                self._file = ScipyOutput(part, path, dataset, self.strategy)
            elif not self._through_root or comm.rank == 0:
                ranks = MPI.COMM_SELF if self._through_root else comm
                self._file = pnetcdf_output(part, path, dataset, ranks, self.strategy)
        for variable in dataset.variables:
            if variable.values is not None:
                whole = [((0,) * variable.values.ndim, variable.values)]
                self.write(variable.name, whole if comm.rank == 0 else [])

    def write(self, name: str, boxes: Boxes) -> None:
        """Write this rank's boxes of a variable, perhaps none: first cell and values, of any type of numbers.

        The boxes of all ranks must tile the variable; `close` counts their cells.
        """
        with self._step():
            variable = self._variables.get(name)
            if variable is None:
                raise InputError(f"{self.path}: is to have no variable {name}")
            ready = [(tuple(map(int, lo)), self._values(variable, lo, values)) for lo, values in boxes]
        self._cells[name] += sum(values.size for _, values in ready)
        if not self._through_root:
            with self._step():
                if self._file is not None:
                    self._file.put(name, ready)
            return
        for rank, many in enumerate(allgather(self.comm, [(lo, values.shape) for lo, values in ready])):
            for number, (lo, shape) in enumerate(many):
                self._gather(variable, rank, lo, shape, ready[number][1] if rank == self.comm.rank else None)
        with self._step():  # errors of rank 0, which takes all boxes before it tells
            if self._failure is not None:
                raise self._failure

    def _gather(
        self,
        variable: Variable,
        rank: int,
        lo: Sequence[int],
        shape: Sequence[int],
        values: npt.NDArray[Any] | None,
    ) -> None:
        """Bring a box of one rank to rank 0, which writes it."""
        comm = self.comm
        if comm.rank == rank and rank != 0:
            assert values is not None
            for message in _messages(values):
                with ledger.communication(bytes=message.nbytes):
                    comm.Send(message, 0, TAG)
        if comm.rank == 0:
            if values is None:
                values = np.empty(shape, variable.kind)
                for message in _messages(values):
                    with ledger.communication():
                        comm.Recv(message, rank, TAG)
            try:
                if self._failure is None and self._file is not None:
                    self._file.put(variable.name, [(lo, values)])
            except OSError as error:
                self._failure = error

    def _values(self, variable: Variable, lo: Sequence[int], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A copy of a box's values as the library wants them, which may swap their bytes where they are."""
        shape = self.dataset.shape(variable)
        inside = len(lo) == values.ndim == len(shape) and all(
            a >= 0 and a + n <= length for a, n, length in zip(lo, values.shape, shape, strict=True)
        )
        if not inside:
            raise InputError(
                f"{self.path}:{variable.name}: a box of shape {values.shape} at {tuple(lo)} does not lie in {shape}"
            )
        return np.array(values, variable.kind, order="C", copy=True)

    def close(self) -> None:
        """Flush, close and rename into place. InputError where the ranks' boxes do not fill the variables."""
        found = allgather(self.comm, self._cells)
        with self._step():
            for name, variable in self._variables.items():
                cells, whole = sum(one[name] for one in found), math.prod(self.dataset.shape(variable))
                if cells != whole:
                    raise InputError(f"{self.path}:{name}: the ranks' boxes hold {cells} cells, the variable {whole}")
        self._flush()
        self._end()


def _messages(values: npt.NDArray[Any]) -> list[npt.NDArray[np.uint8]]:
    """The bytes of a contiguous array in messages of at most LARGEST_MESSAGE."""
    flat = values.reshape(-1).view(np.uint8)
    return [flat[first : first + LARGEST_MESSAGE] for first in range(0, flat.size, LARGEST_MESSAGE)]
