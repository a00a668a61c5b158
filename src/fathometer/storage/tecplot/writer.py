"""Writes Tecplot files by all ranks of a communicator (ways.py), zone by zone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.collectives import LARGEST_MESSAGE, allgather, collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.storage import atomic
from fathometer.storage.tecplot.layout import Element, TecplotLayout, Zone, packed
from fathometer.storage.tecplot.ways import Way
from fathometer.storage.volumes.collective_file import check_opening, mpi_hints, opening
from fathometer.storage.volumes.mpiio import check_moved, failures, system_error

Nodes = npt.NDArray[Any]
Inside = tuple[slice, slice, slice]


@dataclass
class _Piece:
    """What a call writes: from byte `start`, or, with a view, from there on into the nodes of the view."""

    start: int
    memory: list[Any]
    size: int
    view: MPI.Datatype | None = None
    own: list[MPI.Datatype] = field(default_factory=list)  # freed after the call


class TecplotWriter:
    """A file that is there already, being written by all ranks; methods are collective.

    Args:
        path: of the file. layout: what is in it. way: how it is written.
        lo: first node of this rank's block, (k, j, i). shape: its nodes.
    """

    def __init__(
        self, path: Path, layout: TecplotLayout, way: Way, comm: MPI.Intracomm, lo: Index3, shape: Index3
    ) -> None:
        self.path, self.layout, self.way, self.comm = path, layout, way, comm
        self._lo, self._shape = lo, shape
        check_opening(path, comm, os.O_RDWR)
        self._kind = MPI.FLOAT if layout.dtype == "float32" else MPI.DOUBLE
        planes, rows = np.max(allgather(comm, (shape[0], shape[0] * shape[1])), axis=0)
        self._most_planes, self._most_rows = int(planes), int(rows)
        self._heights = set(allgather(comm, shape[1]))
        self._file: MPI.File | None = None

    def write(self, zones: Sequence[Zone], nodes: Nodes, inside: Inside) -> None:
        """Write the values of the last of some zones, the others being there, then the head that knows of it; they are
        on the device afterwards, where that is asked for.

        nodes: [k, j, i, variable] with halos, C-contiguous and of the file's type. inside: the nodes that are written.
        """
        layout, zone = self.layout, len(zones) - 1
        head = layout.head(zones)
        extremes = self._extremes(nodes[inside])
        with self._errors():
            if self._file is None and self.way.file != "call":
                self._file = self._opened_by(self.comm)
            if self.comm.rank == 0:
                self._write_elements(layout.zone_start(zone), layout.zone_head(extremes))
        for variable in range(len(layout.variables)):
            start = layout.values_start(zone, variable)
            match self.way.data:
                case "offsets":
                    self._write_all(self._rows(start, nodes[(*inside, variable)]), self._most_rows)
                case "memory":
                    self._write_all(self._planes(start, nodes, inside, variable), self._most_calls)
                case "views":
                    self._write_all(self._views(start, nodes, inside, variable), self._most_views)
                case "packed":
                    values = np.ascontiguousarray(nodes[(*inside, variable)])[..., None]
                    whole: Any = tuple(slice(0, n) for n in self._shape)
                    self._write_all(self._views(start, values, whole, 0), self._most_views)
        with self._errors():
            if self._file is not None and self._by_view:
                self._file.Set_view(0, MPI.BYTE, MPI.BYTE)
            if self.comm.rank == 0:
                self._write_elements(0, head)
            if self.way.sync:
                with self._opened(together=True) as file, ledger.flush():
                    file.Sync()
        if self.way.file == "step":
            self.close()

    def close(self) -> None:
        """Close the file, if it is open."""
        file, self._file = self._file, None
        with self._errors():
            if file is not None:
                with ledger.io():
                    file.Close()

    @property
    def _by_view(self) -> bool:
        """Whether calls write through datatypes of the file."""
        return self.way.data in ("views", "packed")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        with collective_errors(self.comm), atomic.writing(self.path):
            try:
                yield
            except MPI.Exception as error:
                raise system_error(error) from None

    def _extremes(self, values: Nodes) -> list[tuple[float, float]]:
        """Least and largest value of each variable on all ranks."""
        flat = values.reshape(-1, values.shape[-1])
        own = flat.min(axis=0, initial=np.inf).tolist(), flat.max(axis=0, initial=-np.inf).tolist()
        every = np.array(allgather(self.comm, own))
        return list(zip(every[:, 0].min(axis=0).tolist(), every[:, 1].max(axis=0).tolist(), strict=True))

    def _opened_by(self, comm: MPI.Intracomm) -> MPI.File:
        info = mpi_hints(self.way.hints)
        with ledger.io(), opening(self.path, comm):
            file = MPI.File.Open(comm, str(self.path), MPI.MODE_RDWR, info)
        info.Free()
        file.Set_errhandler(MPI.ERRORS_RETURN)
        return file

    @contextmanager
    def _opened(self, together: bool) -> Iterator[MPI.File]:
        """The file for a call. Where that is asked for it is opened for it, by this rank alone if the call is."""
        if self._file is not None:
            yield self._file
            return
        file = self._opened_by(self.comm if together else MPI.COMM_SELF)
        try:
            yield file
        finally:
            with ledger.io():
                file.Close()

    def _write_elements(self, start: int, elements: Sequence[Element]) -> None:
        """On one rank: the head, or what stands before a zone's values."""
        parts = packed(elements)
        if self.way.header == "elements":
            for part in parts:
                self._write_piece(_Piece(start, [part, len(part), MPI.BYTE], len(part)), False)
                start += len(part)
            return
        # One datatype of all values where they lie in memory, which MPI gathers.
        buffers = [np.frombuffer(part, np.uint8) for part in parts]
        lengths, places = [len(part) for part in parts], [MPI.Get_address(buffer) for buffer in buffers]
        head = MPI.Datatype.Create_struct(lengths, places, [MPI.BYTE] * len(parts)).Commit()
        self._write_piece(_Piece(start, [MPI.BOTTOM, 1, head], sum(lengths), own=[head]), False)

    def _write_all(self, pieces: Iterator[_Piece], most: int) -> None:
        """Collective. Write pieces, of which no rank has more than `most`; with collective calls, or views of one file,
        ranks with fewer take part with nothing. An error of one rank is kept until all calls are made."""
        errors: list[OSError] = []
        together, made = self.way.calls == "collective", 0
        for piece in pieces:
            errors += failures(partial(self._write_piece, piece, together))
            made += 1
        nothing = _Piece(0, [b"", 0, MPI.BYTE], 0, self._kind if self._by_view else None)
        for _ in range(most - made if together or (self._by_view and self._file is not None) else 0):
            errors += failures(partial(self._write_piece, nothing, together))
        with collective_errors(self.comm), atomic.writing(self.path):
            if errors:
                raise errors[0]

    def _write_piece(self, piece: _Piece, together: bool) -> None:
        try:
            with self._opened(together) as file, ledger.io(bytes=piece.size):
                start = piece.start
                if piece.view is not None:
                    file.Set_view(start, self._kind, piece.view)
                    start = 0
                status = MPI.Status()
                (file.Write_at_all if together else file.Write_at)(start, piece.memory, status)
                check_moved(status, piece.size)
        finally:
            for datatype in piece.own:
                datatype.Free()

    def _offset(self, k: int, j: int) -> int:
        """Bytes of a variable before a row of this rank's block."""
        (k0, j0, i0), (ni, nj, _) = self._lo, self.layout.nodes
        return (((k0 + k) * nj + j0 + j) * ni + i0) * self.layout.itemsize

    def _rows(self, start: int, values: Nodes) -> Iterator[_Piece]:
        """A row of nodes along i at a time, copied."""
        for k, j in np.ndindex(self._shape[:2]):
            row = np.ascontiguousarray(values[k, j])
            yield _Piece(start + self._offset(k, j), [row, row.size, self._kind], row.nbytes)

    @property
    def _planes_a_call(self) -> int:
        """Planes of a block that lie one after the other in the file, in one call at most."""
        ni, nj, _ = self.layout.nodes
        if any(shape != nj for shape in self._heights):
            return 1
        return max(1, LARGEST_MESSAGE // (ni * nj * self.layout.itemsize))

    @property
    def _most_calls(self) -> int:
        return -(-self._most_planes // self._planes_a_call)

    def _planes(self, start: int, nodes: Nodes, inside: Inside, variable: int) -> Iterator[_Piece]:
        """Planes of nodes that lie one after the other in the file, by a datatype of memory."""
        for k in range(0, self._shape[0], self._planes_a_call):
            count = min(self._planes_a_call, self._shape[0] - k)
            size = count * self._shape[1] * self._shape[2] * self.layout.itemsize
            if size:  # there are no datatypes of nothing
                memory = self._in_memory(nodes, inside, variable, k, count)
                yield _Piece(start + self._offset(k, 0), [nodes, 1, memory], size, own=[memory])

    @property
    def _planes_a_view(self) -> int:
        ni, nj, _ = self.layout.nodes
        return max(1, LARGEST_MESSAGE // (ni * nj * self.layout.itemsize))

    @property
    def _most_views(self) -> int:
        return -(-self._most_planes // self._planes_a_view)

    def _views(self, start: int, nodes: Nodes, inside: Inside, variable: int) -> Iterator[_Piece]:
        """The block's nodes by a datatype of memory and one of the file."""
        whole = list(self.layout.nodes[::-1])
        for k in range(0, self._shape[0], self._planes_a_view):
            part = [min(self._planes_a_view, self._shape[0] - k), *self._shape[1:]]
            size = int(np.prod(part)) * self.layout.itemsize
            if not size:
                continue
            view = self._kind.Create_subarray(whole, part, [self._lo[0] + k, *self._lo[1:]]).Commit()
            if nodes.shape[-1] == 1:  # packed
                flat = nodes.reshape(-1)[k * part[1] * part[2] :]
                yield _Piece(start, [flat, size // self.layout.itemsize, self._kind], size, view, [view])
            else:
                memory = self._in_memory(nodes, inside, variable, k, part[0])
                yield _Piece(start, [nodes, 1, memory], size, view, [view, memory])

    def _in_memory(self, nodes: Nodes, inside: Inside, variable: int, first: int, count: int) -> MPI.Datatype:
        """The datatype of some planes of a variable in the array."""
        starts = [inside[0].start + first, inside[1].start, inside[2].start, variable]
        return self._kind.Create_subarray(list(nodes.shape), [count, *self._shape[1:], 1], starts).Commit()
