"""Snapshots: fields of elastic waves on every n-th node of the model after every m-th step, in one file a field.

A file has the axes time, x, y, z (2D: time, x, z; of the surface without z), z fastest. A snapshot after s steps holds
stresses at the time s dt after the run's beginning and velocities half a step before: the origin of a file's time axis
says so, as those of its other axes say where on the staggered grid the field lies. All ranks write one file, each its
own nodes, by a strategy of [storage]; some snapshots may be gathered in memory before.
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.meant import did_you_mean
from fathometer.grid.grid import Grid
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.fields import BY_NAME, VELOCITY, Field, fields_of
from fathometer.seismic.survey.snapshots import SnapshotsTable
from fathometer.storage.volumes.block import TIME, VolumeInfo
from fathometer.storage.volumes.place import Place
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.writer import VolumeWriter

if TYPE_CHECKING:
    from mpi4py import MPI

PHASE, FILES = "write snapshots", "snapshots"  # in the ledger
DTYPE = np.dtype(np.float32)  # of the values in the files


class Stepped(Protocol):
    """What snapshots are taken of."""

    def field(self, name: str) -> NDArray[Any]:
        """A field on this rank's owned cells, [x, y, z]."""


class Nodes:
    """The nodes of a model that snapshots keep, and those of them that lie in one block.

    Attributes:
        every: distance of kept nodes along x, y, z. axes: of x, y, z (0, 1, 2) those that files have.
        shape: kept nodes along these. lo: this block's first one; local_shape: how many it has.
        box: this block's cells that are kept, slices with steps along x, y, z; empty ones where it has none.
    """

    def __init__(self, grid: Grid, block: Decomposition, keys: SnapshotsTable) -> None:
        self.every = _every(grid, keys)
        surface = keys.region == "surface"
        self.axes = tuple(axis for axis in grid.axes if not (surface and axis == 2))
        whole = [1 if surface and axis == 2 else -(-n // self.every[axis]) for axis, n in enumerate(grid.shape)]
        first, last = grid.model_box(block)
        lo, hi = ([min(-(-end[axis] // self.every[axis]), whole[axis]) for axis in range(3)] for end in (first, last))
        if any(a >= b for a, b in zip(lo, hi, strict=True)):
            lo = hi = [0, 0, 0]
        self.box = tuple(
            slice(a * n + pad - start, b * n + pad - start, n) if b > a else slice(0, 0)
            for a, b, n, (pad, _), start in zip(lo, hi, self.every, grid.pad, block.lo, strict=True)
        )
        self.shape = tuple(whole[axis] for axis in self.axes)
        self.lo = tuple(lo[axis] for axis in self.axes)
        self.local_shape = tuple(hi[axis] - lo[axis] for axis in self.axes)

    def of(self, field: NDArray[Any]) -> NDArray[Any]:
        """A view of the kept nodes of a field on the block's owned cells."""
        return field[self.box].reshape(self.local_shape)


class SnapshotWriter:
    """Snapshots of a run, being written by all ranks; collective. A context manager: a block that ends well closes the
    files, which get their names then; of one that fails nothing is left.

    Args:
        grid: of the run. block: this rank's part of its padded cells.
        steps: of the whole run. dt: s. first_time: of the beginning of step 0, s.
        folder: of the files PREFIX-FIELD.SUFFIX. place: of the grid's x and y in the world; None: unknown.

    Raises InputError: a field that the run does not have, no snapshot within the run, keys for another dimension;
    FathometerError: the system refuses a file, memory is short. The same on all ranks.
    """

    def __init__(
        self,
        grid: Grid,
        block: Decomposition,
        keys: SnapshotsTable,
        steps: int,
        dt: float,
        first_time: float,
        folder: Path,
        prefix: str,
        strategy: Strategy | None,
        comm: MPI.Intracomm,
        place: Place | None = None,
    ) -> None:
        self._place = place or Place()
        self.every, self.count, self._taken = keys.every_steps, steps // keys.every_steps, 0
        self._comm, self._first, self._filled = comm, 0, 0  # the buffer's first snapshot, and how many it holds
        with collective_errors(comm):
            self.paths = snapshot_paths(grid, keys, folder, prefix)
            self.nodes = Nodes(grid, block, keys)
            check_every(keys, steps)
            self.silent = set(self.paths)  # fields of which this rank has written nothing but zeros
        with collective_errors(comm):
            try:
                held = (min(keys.buffered_steps, self.count), *self.nodes.local_shape)
                self._buffers = {name: np.empty(held, DTYPE) for name in self.paths}
            except MemoryError:
                raise FathometerError("[snapshots] buffered_steps: not enough memory for so many snapshots") from None
        with ExitStack() as opened, ledger.phase(PHASE), ledger.file(FILES, "write"):
            self._writers = {
                name: opened.enter_context(
                    VolumeWriter(path, self._info(grid, BY_NAME[name], dt, first_time), comm, strategy)
                )
                for name, path in self.paths.items()
            }
            self._opened = opened.pop_all()

    def _info(self, grid: Grid, field: Field, dt: float, first_time: float) -> VolumeInfo:
        axes, every = self.nodes.axes, self.nodes.every
        before = 0.5 if field.stage == VELOCITY else 0.0
        return VolumeInfo(
            (self.count, *self.nodes.shape),
            DTYPE,
            (self.every * dt, *(grid.spacing[axis] * every[axis] for axis in axes)),
            (
                first_time + (self.every - before) * dt,
                *(grid.origin[axis] + field.offset[axis] * grid.spacing[axis] for axis in axes),
            ),
            (TIME, *("xyz"[axis] for axis in axes)),
            "m/s" if field.stage == VELOCITY else "Pa",
            place=self._place,
        )

    def due(self, step: int) -> int | None:
        """After `step` steps of the run: how many remain until the next snapshot, 0: it is to be taken now; None: all
        have been taken."""
        return None if self._taken == self.count else (self._taken + 1) * self.every - step

    def take(self, propagator: Stepped) -> None:
        """Collective. Take the next snapshot; all that are held are written when the buffer is full, or with the last.

        Raises FathometerError, the same on all ranks, where the system refuses to write.
        """
        with ledger.phase(PHASE):
            for name, buffer in self._buffers.items():
                buffer[self._filled] = self.nodes.of(propagator.field(name))
            self._filled += 1
            self._taken += 1
            held = next(iter(self._buffers.values())).shape[0]
            if self._filled == held or self._taken == self.count:
                self._write()

    def _write(self) -> None:
        with ledger.file(FILES, "write"):
            for name, writer in self._writers.items():
                values = self._buffers[name][: self._filled]
                writer.write(values, (self._first, *self.nodes.lo))
                if name in self.silent and values.any():
                    self.silent.remove(name)
                if self._taken == self.count:
                    writer.flush()
        self._first, self._filled = self._taken, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ledger.phase(PHASE), ledger.file(FILES, "write"):
            self._opened.__exit__(kind, error, trace)


def steps_between(keys: SnapshotsTable | None) -> int | None:
    """Steps from a snapshot to the next; None: there are no snapshots."""
    return keys.every_steps if keys is not None else None


def check_every(keys: SnapshotsTable, steps: int) -> None:
    """Raises InputError where a run of so many steps has no snapshot."""
    if keys.every_steps > steps:
        raise InputError(f"[snapshots] every_steps: found {keys.every_steps}; allowed: 1 to {steps}, the run's steps")


def single_node_notes(grid: Grid, keys: SnapshotsTable | None) -> tuple[str, ...]:
    """A note where snapshots keep a single node along an axis of a model that has more."""
    if keys is None:
        return ()
    nodes = Nodes(grid, Decomposition(grid.shape), keys)
    single = [
        f"{'xyz'[axis]} ({nodes.every[axis]} of {grid.shape[axis]})"
        for axis, kept in zip(nodes.axes, nodes.shape, strict=True)
        if kept == 1 < grid.shape[axis]
    ]
    if not single:
        return ()
    return (f"[snapshots] every_nodes: a single node is kept along {' and '.join(single)}",)


def snapshot_info(grid: Grid, keys: SnapshotsTable) -> VolumeInfo:
    """What is known of a file's values before the run: its nodes and their type; of steps there is one or more."""
    nodes = Nodes(grid, Decomposition(grid.shape), keys)
    labels = (TIME, *("xyz"[axis] for axis in nodes.axes))
    return VolumeInfo((1, *nodes.shape), DTYPE, None, None, labels, None)


def field_names(grid: Grid, keys: SnapshotsTable) -> tuple[str, ...]:
    """The fields that are kept; InputError for one that the run does not have."""
    known = [field.name for field in fields_of(grid.two_dimensional)]
    if keys.fields == "velocities":
        return tuple(name for name in known if name.startswith("v"))
    for name in keys.fields:
        if name not in known:
            raise InputError(
                f"[snapshots] fields: found {name!r}; allowed in 2D: {', '.join(known)}{did_you_mean(name, known)}"
            )
    return tuple(keys.fields)


def snapshot_paths(grid: Grid, keys: SnapshotsTable, folder: Path, prefix: str) -> dict[str, Path]:
    """The file of each field that is kept: PREFIX-FIELD.SUFFIX in the folder. Raises as `field_names`."""
    return {name: folder / f"{prefix}-{name}.{keys.format}" for name in field_names(grid, keys)}


def buffer_bytes(grid: Grid, block: Decomposition, keys: SnapshotsTable, steps: int | None = None) -> int:
    """Memory that SnapshotWriter takes for the snapshots of a block.

    steps: of the whole run, which may have fewer snapshots than are buffered; None: it has not.
    """
    nodes = math.prod(Nodes(grid, block, keys).local_shape)
    most = keys.buffered_steps if steps is None else max(1, steps // keys.every_steps)
    held = min(keys.buffered_steps, most)
    return held * nodes * len(field_names(grid, keys)) * DTYPE.itemsize


def _every(grid: Grid, keys: SnapshotsTable) -> tuple[int, int, int]:
    """Distance of kept nodes along x, y, z; InputError where the key is for another dimension."""
    given = keys.every_nodes
    if isinstance(given, int):
        return given, 1 if grid.two_dimensional else given, given
    if len(given) != len(grid.axes):
        raise InputError(
            f"[snapshots] every_nodes: found {len(given)} numbers; needed: {len(grid.axes)}, or one for all axes"
        )
    along = dict(zip(grid.axes, given, strict=True))
    return along[0], along.get(1, 1), along[2]
