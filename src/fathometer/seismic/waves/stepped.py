"""What time stepping of every wave equation has in common: threads, sweeps, tiles, halo exchanges, checks.

    advance(k):  in sweeps of some steps
        send halos; meanwhile all steps of the cells that need no neighbour's
        for each stage of each step: send halos, compute the rest
    or, in diamonds, all steps at once; rows next to cuts travel meanwhile (faces.py)

A step of some equations has stages, each of which reads what the one before has written (native/core/step.hpp).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer import _native
from fathometer.base import ledger
from fathometer.base.errors import NotFiniteError
from fathometer.grid.arrays import allocate, field_layout
from fathometer.grid.grid import Grid
from fathometer.grid.tiling import DIAMONDS, PLAIN, stage_reach
from fathometer.grid.trials import Trials
from fathometer.parallel.collectives import allreduce
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.parallel.halo import HaloExchange
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.waves.faces import CutFaces
from fathometer.seismic.waves.recording import Receivers, Recording

PIECES = 4  # of the cells inside, between which messages are given time to travel


@dataclass(frozen=True)
class PointSet:
    """The sources that concern this rank: `indices` into the survey's list, and the kernels' view of them."""

    indices: np.ndarray
    native: Any


def at_points(
    steps: slice, sources: PointSet | None, injected: np.ndarray | None, recording: Recording | None
) -> dict[str, Any]:
    """Arguments of the kernels' job of these of the steps: what it injects and records at points of this rank."""
    arguments: dict[str, Any] = {} if recording is None else recording.arguments(steps)
    if sources is not None and injected is not None and len(sources.indices):
        arguments |= {"sources": sources.native, "injected": injected[steps]}
    return arguments


class SteppedFields:
    """Fields of this rank's block of a grid, zero at first. Subclasses make the kernels' view of them, `_wave`.

    Args:
        grid: the computational grid with its padding. block: this rank's block of `grid.full_shape`.
        dtype: float32 or float64. depth: planes of the halos. stages: of a step.
        comm: the communicator whose ranks share the grid.

    Attributes:
        step: steps taken since rest.
        tiling: how steps are grouped into sweeps; of no consequence for the results, may be set at any time.
        trials: which set it for every advance; None: it stays.
        threads: of each task; 0: as many as the process has. stages: of a step.
        tiled: whether sweeps of several steps go in tiles; else the tiling does not matter.
    """

    tiled = True
    _wave: Any

    def __init__(
        self,
        grid: Grid,
        block: Decomposition,
        dtype: np.dtype[Any],
        depth: int,
        comm: MPI.Intracomm,
        stages: int = 1,
    ) -> None:
        self.grid, self.block, self.comm = grid, block, comm
        self.step = 0
        self.tiling = PLAIN
        self.trials: Trials | None = None
        self.threads = ThreadCounts(0, 0, 1)
        self._dtype, self._depth, self.stages = dtype, depth, stages
        self._first, self._shape = field_layout(block, depth, dtype)
        self._exchanges: list[HaloExchange] = []  # by the level, or stage, that needs them
        self._faces: CutFaces | None = None  # where ranks share the grid along y alone
        self._lines: np.ndarray | None = None  # room for what receivers record in an advance
        single = dtype == np.float32
        self._job: Any = _native.JobFloat32 if single else _native.JobFloat64
        self._points_kind: Any = _native.PointsFloat32 if single else _native.PointsFloat64

    @property
    def reach(self) -> int:
        """Cells that a stage of a tile reaches, points included."""
        return stage_reach(self._depth, self.radius)

    @property
    def radius(self) -> int:
        """Cells that a stage reaches."""
        raise NotImplementedError

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self._dtype.itemsize

    def _allocate(self, arrays: int) -> list[np.ndarray]:
        """So many zeroed arrays with halos."""
        return [allocate(self._shape, self._dtype, stagger=n) for n in range(arrays)]

    def _make_faces(self, fields: tuple[list[int], list[int]]) -> CutFaces | None:
        """Of fields by the level, or stage, that reads them; None where other axes than y are cut, or none."""
        x, y, z = self.block.ranks
        if y == 1 or x * z > 1:
            return None
        return CutFaces(self.comm, self.block, fields, self._depth, self._dtype)

    @property
    def halo_depth(self) -> int:
        """Planes of the halos."""
        return self._depth

    @property
    def cut_sides(self) -> list[list[bool]]:
        """Axis, low and high side: whether the cells beyond belong to another rank."""
        return [[self.block.has_neighbour(axis, side) for side in (-1, 1)] for axis in range(3)]

    @property
    def image_box(self) -> tuple[Index3, Index3]:
        """Local half-open range of the owned cells that belong to the model (not to its padding)."""
        return self.grid.local_box(self.block)

    @property
    def image_shape(self) -> Index3:
        lo, hi = self.image_box
        return hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]

    def owned(self, array: np.ndarray) -> np.ndarray:
        """View (nx, ny, nz) of the owned cells of one of the fields' arrays."""
        (x, y, z), (nx, ny, nz) = self._first, self.block.local_shape
        return array[x : x + nx, y : y + ny, z : z + nz]

    def _take(
        self,
        steps: int,
        make_job: Callable[[slice, Recording | None], Any],
        flops: int,
        kind: str,
        share: float = 1.0,
        rows: int | None = None,
        receivers: Receivers | None = None,
        recorded: np.ndarray | None = None,
    ) -> None:
        """Take `steps` time steps. Collective where there are neighbours or trials.

        Args:
            make_job: the kernels' job of some of the steps, with what takes lines of receivers. flops: of a cell.
            kind: of the work beside the equation. share: of the cells of all ranks that are computed. rows: of this
                rank's in all steps; None: all. recorded: (steps, receivers) that is written.
        """
        self.threads.use(self.threads.propagate)
        begin = ledger.now()
        if self.trials is not None:
            self.tiling = self.trials.tiling_for(steps, kind, share)
        nx, ny, nz = self.block.local_shape
        points = float(steps * nx * ny if rows is None else rows) * nz
        ledger.work(points, flops * points)
        if receivers is None or recorded is None:
            self._advance(slice(0, steps), lambda some: make_job(some, None))
        else:
            recording = Recording(receivers, recorded, self._lines)
            self._lines = recording.room
            for part in recording.parts(steps):
                self._advance(part, lambda some: make_job(some, recording))
        self.step += steps
        if self.trials is not None:
            self.trials.took(ledger.now() - begin)

    def _advance(self, part: slice, make_job: Callable[[slice], Any]) -> None:
        """Take some steps of an advance."""
        steps = part.stop - part.start
        if not self._exchanges:
            self._wave.advance(steps * self.stages, make_job(part), self._numbers)
        elif self.tiling.tile == DIAMONDS and self.tiling.depth > 1:
            assert self._faces is not None, "tilings are chosen so"
            self._wave.advance(steps * self.stages, make_job(part), self._numbers, self._faces.native())
        else:
            sweeps = -(-steps // self.tiling.depth)
            for sweep in range(sweeps):
                first, last = (part.start + steps * n // sweeps for n in (sweep, sweep + 1))
                job, stages = make_job(slice(first, last)), (last - first) * self.stages
                together = stages if self.tiling.depth > 1 else 1
                for stage in range(0, stages, together):
                    self._exchanged_sweep(stage, together, job)
                self._wave.level = (self._wave.level + stages) % 2

    @property
    def _numbers(self) -> tuple[int, int, int, int]:
        """The tiling as the kernels take it, whose steps are stages; a plain sweep takes one."""
        depth, block, tile, team = self.tiling.numbers
        return depth * self.stages if depth > 1 else 1, block, tile, team

    def _exchanged_sweep(self, first: int, stages: int, job: Any) -> None:
        """Some of a job's stages, from `first` on."""
        wave, skew = self._wave, self._wave.skew(job)
        halo = self._exchanges[(wave.level + first) % 2]
        halo.start()
        for piece in range(PIECES):
            wave.advance_inside(first, stages, job, self._numbers, piece, PIECES)
            halo.test()
        for n in range(first, first + stages):
            if n > first:
                halo = self._exchanges[(wave.level + n) % 2]
                halo.start()
                wave.advance_rim(n, job, skew, (n - first + 1) * skew)
            halo.wait()
            wave.advance_rim(n, job, 0, skew)

    def check(self, where: str) -> None:
        """Collective. Raises NotFiniteError on all ranks, with step and place, if a field is not finite.

        `where`: shot and loop, in words.
        """
        with ledger.phase("check"):
            self._check(where)

    def _check(self, where: str) -> None:
        local = self._wave.first_nonfinite()
        no_cell = np.iinfo(np.int64).max
        first_cell = no_cell  # that is not finite, in C order of the padded grid
        if local >= 0:
            _, ny, nz = self.block.local_shape
            _, full_ny, full_nz = self.grid.full_shape
            i, j, k = local // (ny * nz), local // nz % ny, local % nz
            x, y, z = (a + b for a, b in zip((i, j, k), self.block.lo, strict=True))
            first_cell = (x * full_ny + y) * full_nz + z
        first_cell = allreduce(self.comm, first_cell, "MIN")
        if first_cell != no_cell:
            _, full_ny, full_nz = self.grid.full_shape
            cell = (first_cell // (full_ny * full_nz), first_cell // full_nz % full_ny, first_cell % full_nz)
            place = ", ".join(
                f"{'xyz'[a]} = {self.grid.origin[a] + (cell[a] - self.grid.pad[a][0]) * self.grid.spacing[a]:g} m"
                for a in self.grid.axes
            )
            raise NotFiniteError(
                f"{where}: the wavefield is no longer finite: seen at step {self.step}, first at {place}; "
                "look there for an unphysical model value, and in the wavelet or traces for huge amplitudes"
            )

    def settle(self) -> None:
        """Until all steps are done, and arrays that they write or add to are complete."""

    def close(self) -> None:
        """Free what MPI holds for the exchanges."""
        for exchange in self._exchanges:
            exchange.close()
        self._exchanges = []
        if self._faces is not None:
            self._faces.close()
