"""Time stepping of one wavefield on this rank's block, with its sources, receivers, absorbing boundaries and halos.

    advance(k):  in sweeps of some steps
        send halos of w; meanwhile all steps of the cells that need no neighbour's
        for each step: send halos, compute the rest

The kernel is the same for sources and, on reversed time, for receivers: the scheme is self-adjoint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer import _native
from fathometer.base import ledger
from fathometer.base.errors import NotFiniteError
from fathometer.grid.arrays import allocate, field_layout, padded
from fathometer.grid.grid import Grid
from fathometer.grid.stencil import second_derivative_weights, staggered_weights
from fathometer.grid.tiling import PLAIN
from fathometer.grid.trials import Trials
from fathometer.parallel.collectives import allreduce
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.parallel.halo import HaloExchange, HaloField
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.layers import Layer, damping_profiles, pml_layers
from fathometer.seismic.waves.physics import physics_of
from fathometer.seismic.waves.points import SincPoints, halo_depth
from fathometer.seismic.waves.scheme import Scheme

PIECES = 4  # of the cells inside, between which messages are given time to travel


@dataclass(frozen=True)
class PointSet:
    """The points that concern this rank: `indices` into the survey's list, and the kernels' view of them."""

    indices: np.ndarray
    native: Any


@dataclass(frozen=True)
class Correlation:
    """Zero-lag products with a snapshot p_s: image += p_s p, illumination += p_s^2; all of Propagator.image_shape."""

    snapshot: np.ndarray
    image: np.ndarray
    illumination: np.ndarray


AtStep = tuple[np.ndarray | None, Correlation | None]  # what is done at an imaging step


@dataclass(frozen=True)
class State:
    """A saved wavefield: the step, which time level is now, and copies of all that changes on the owned cells."""

    step: int
    level: int
    arrays: list[np.ndarray]


class Propagator:
    """One wavefield, zero at first.

    Args:
        grid: the computational grid with its padding.
        block: this rank's block of `grid.full_shape`.
        model: dt^2 M on the owned cells from earth.scaled_medium: one array (isotropic) or three (VTI).
        off_grid: whether any source or receiver lies between cells: halos then carry edges and corners for them.
        comm: the communicator whose ranks share the grid.

    Attributes:
        tiling: how steps are grouped into sweeps; of no consequence for the results, may be set at any time.
        trials: which set it for every advance; None: it stays.
        threads: of each task; 0: as many as the process has.
    """

    def __init__(
        self,
        grid: Grid,
        block: Decomposition,
        model: list[np.ndarray],
        scheme: Scheme,
        off_grid: bool,
        comm: MPI.Intracomm,
    ) -> None:
        self.grid, self.block, self.scheme, self.comm = grid, block, scheme, comm
        self.step = 0
        self.tiling = PLAIN
        self.trials: Trials | None = None
        self.threads = ThreadCounts(0, 0, 1)
        self._active: np.ndarray | None = None
        self._computed: np.ndarray | None = None  # rows, before each step
        self._computed_by_all: np.ndarray | None = None
        self._depth = halo_depth(scheme.radius, off_grid)
        self._first, shape = field_layout(block, self._depth, scheme.dtype)
        self.physics = physics_of(model)
        # Two time levels of each field take turns: field 0 level 0, field 0 level 1, field 1 level 0, …
        self._buffers = [allocate(shape, scheme.dtype, stagger=n) for n in range(2 * self.physics.fields)]
        single = scheme.dtype == np.float32
        weights, staggered = (
            second_derivative_weights(scheme.radius, scheme.space_weights),
            staggered_weights((scheme.radius + 1) // 2),
        )
        kind: Any = _native.WavefieldFloat32 if single else _native.WavefieldFloat64
        self._job: Any = _native.JobFloat32 if single else _native.JobFloat64
        self._points_kind: Any = _native.PointsFloat32 if single else _native.PointsFloat64
        self._wave = kind(
            radius=scheme.radius,
            has_y=not grid.two_dimensional,
            shape=block.local_shape,
            first=self._first,
            buffers=self._buffers,
            model=model,
            weights=np.array([weights / h**2 for h in grid.stencil_spacing], scheme.dtype),
            staggered=np.array([staggered / h for h in grid.stencil_spacing], scheme.dtype),
            damping=damping_profiles(grid, block, scheme),
            free_surface=scheme.free_surface and block.lo[2] == 0,
            cut=[[block.has_neighbour(axis, side) for side in (-1, 1)] for axis in range(3)],
            exchanged=self._depth if block.size > 1 else 0,
        )
        self._layers: list[Layer] = pml_layers(grid, block, scheme)
        for layer in self._layers:
            self._wave.add_layer(**layer.arguments())
        self._exchanges = self._make_exchanges(off_grid) if block.size > 1 else []
        self._scale = 1 / grid.cell_volume
        self._flops = self.physics.flops_per_point(2 * scheme.radius, grid.two_dimensional)

    @property
    def radius(self) -> int:
        """Cells that the stencil reaches."""
        return self.scheme.radius

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self.scheme.dtype.itemsize

    @property
    def field_count(self) -> int:
        """Fields that are stepped."""
        return self.physics.fields

    @property
    def array_count(self) -> int:
        """Arrays of a step: two time levels of each field, and the model."""
        return self.physics.arrays

    @property
    def image_box(self) -> tuple[Index3, Index3]:
        """Local half-open range of the owned cells that belong to the model (not to its padding)."""
        return self.grid.local_box(self.block)

    @property
    def image_shape(self) -> Index3:
        lo, hi = self.image_box
        return hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]

    def injectors(self, points: SincPoints) -> PointSet:
        """The points whose boxes touch this rank's cells, as sources."""
        return self._point_set(points, points.touching(self.block), receivers=False)

    def samplers(self, points: SincPoints) -> PointSet:
        """The points whose nearest cell this rank owns, as receivers."""
        return self._point_set(points, points.owned(self.block), receivers=True)

    def _point_set(self, points: SincPoints, indices: np.ndarray, receivers: bool) -> PointSet:
        native = self._points_kind(
            first=np.ascontiguousarray(points.first[indices] - np.array(self.block.lo)),
            count=np.ascontiguousarray(points.count[indices]),
            weight=np.ascontiguousarray(points.weight[indices], self.scheme.dtype),
            column=np.arange(len(indices), dtype=np.int64),
            shape=self.block.local_shape,
            receivers=receivers,
        )
        return PointSet(indices, native)

    def reset(self, active: ActiveRows | None = None) -> None:
        """Back to rest, at step 0; active: the rows that are computed in the steps to come, None: all in all steps."""
        for array in self._arrays():
            array.fill(0)
        self._wave.level = 0
        self.step = 0
        self._active = None if active is None else active.on(self.block)
        self._computed = None if active is None else active.computed(self.block)
        self._computed_by_all = None if active is None or self.trials is None else active.computed()

    def save(self, room: np.ndarray | None = None) -> State:
        """A copy of the whole wavefield as it is now, less the halos, which are exchanged before they are used.

        room: memory to copy it to, `state_bytes` long, whose first byte begins a cache line; None: new memory.
        """
        room = np.empty(self.state_bytes, np.uint8) if room is None else room
        arrays, at = [], 0
        for array in self._changing():
            copy = room[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
            copy[...] = array
            arrays.append(copy)
            at += padded(array.nbytes, 1)
        return State(self.step, self._wave.level, arrays)

    def restore(self, state: State) -> None:
        """Back to what `save` of this propagator returned."""
        for array, saved in zip(self._changing(), state.arrays, strict=True):
            array[...] = saved
        self._wave.level = state.level
        self.step = state.step

    def _arrays(self) -> list[np.ndarray]:
        """All that changes from step to step: fields and the layers' memories."""
        return self._buffers + self._memories()

    def _memories(self) -> list[np.ndarray]:
        return [memory for layer in self._layers for memory in (layer.psi, layer.zeta)]

    def _changing(self) -> list[np.ndarray]:
        """The same, of the fields only this rank's own cells and their mirror image above a free surface."""
        (x, y, z), (nx, ny, nz) = self._first, self.block.local_shape
        above = self.scheme.radius if self.scheme.free_surface and self.block.lo[2] == 0 else 0
        own = [array[x : x + nx, y : y + ny, z - above : z + nz] for array in self._buffers]
        return own + self._memories()

    @property
    def changing_bytes(self) -> int:
        """Of the fields with their halos and the layers' memories: what a second wavefield in the same model takes."""
        return sum(array.nbytes for array in self._arrays())

    @property
    def state_bytes(self) -> int:
        """Of what `save` returns."""
        return sum(padded(array.nbytes, 1) for array in self._changing())

    def owned(self, array: np.ndarray) -> np.ndarray:
        """View (nx, ny, nz) of the owned cells of one of the fields' arrays."""
        (x, y, z), (nx, ny, nz) = self._first, self.block.local_shape
        return array[x : x + nx, y : y + ny, z : z + nz]

    def fields(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Views (nx, ny, nz) of the owned cells: the fields now, and one step before."""
        level = self._wave.level
        return (
            [self.owned(a) for a in self._buffers[level::2]],
            [self.owned(a) for a in self._buffers[1 - level :: 2]],
        )

    def advance(
        self,
        steps: int,
        sources: PointSet | None = None,
        injected: np.ndarray | None = None,
        receivers: PointSet | None = None,
        recorded: np.ndarray | None = None,
        snapshots: Sequence[np.ndarray | None] = (),
        correlations: Sequence[Correlation] = (),
    ) -> None:
        """Take `steps` time steps, with imaging steps among them at equal distances, the last one after the last step.

        Collective where there are neighbours or trials.

        Args:
            injected: (steps, sources) in the propagation's dtype: row n is injected in step n.
            recorded: (steps, receivers), written: row n is the pressure before step n.
            snapshots: image_shape each, written: the pressure at the imaging steps; None where it is not wanted.
            correlations: accumulated at the imaging steps. The number of either divides `steps`.
        """
        self.threads.use(self.threads.propagate)
        begin = ledger.now()
        if self.trials is not None:
            kind = "receivers" if correlations else "source, snapshots" if snapshots else "source"
            self.tiling = self.trials.tiling_for(steps, kind, self._share(steps))
        points = float(self._rows(steps)) * self.block.local_shape[2]
        ledger.work(points, self._flops * points)
        make_job = partial(self._make_job, sources, injected, receivers, recorded)
        imaging = _at_imaging_steps(steps, snapshots, correlations)
        if not self._exchanges:
            self._wave.advance(steps, make_job(slice(0, steps), imaging), self.tiling.numbers)
        else:
            depth = min(self.tiling.depth, max(steps, 1))
            sweeps = -(-steps // depth)
            for sweep in range(sweeps):
                rows = slice(steps * sweep // sweeps, steps * (sweep + 1) // sweeps)
                self._exchanged_sweep(rows.stop - rows.start, make_job(rows, imaging))
        self.step += steps
        if self.trials is not None:
            self.trials.took(ledger.now() - begin)

    def _rows(self, steps: int) -> int:
        """Rows of this rank that the next steps compute."""
        if self._computed is None:
            return steps * math.prod(self.block.local_shape[:2])
        return _between(self._computed, self.step, steps)

    def _share(self, steps: int) -> float:
        """Of the cells of all ranks that the next steps compute."""
        if self._computed_by_all is None:
            return 1.0
        return _between(self._computed_by_all, self.step, steps) / (max(steps, 1) * math.prod(self.grid.full_shape[:2]))

    def _make_job(
        self,
        sources: PointSet | None,
        injected: np.ndarray | None,
        receivers: PointSet | None,
        recorded: np.ndarray | None,
        steps: slice,
        imaging: Mapping[int, AtStep],
    ) -> Any:
        """The job of the steps `steps` of an advance. imaging: what is done after which of the advance's steps."""
        arguments: dict[str, Any] = {}
        if self._active is not None:
            arguments |= {"active": self._active, "start": self.step + (steps.start or 0)}
        if sources is not None and injected is not None and len(sources.indices):
            arguments |= {"sources": sources.native, "injected": injected[steps], "scale": self._scale}
        if receivers is not None and recorded is not None and len(receivers.indices):
            arguments |= {"receivers": receivers.native, "recorded": recorded[steps]}
        job = self._job(**arguments)
        for step in range(steps.start, steps.stop):
            if step in imaging:
                self._add_imaging(job, step - steps.start, *imaging[step])
        return job

    def _add_imaging(
        self, job: Any, step: int, snapshot: np.ndarray | None, correlation: Correlation | None = None
    ) -> None:
        lo, hi = self.image_box
        products = {}
        if correlation is not None:
            products = {
                "source": correlation.snapshot,
                "image": correlation.image,
                "illumination": correlation.illumination,
            }
        job.add_imaging(step=step, lo=lo, hi=hi, snapshot=snapshot, **products)

    def _exchanged_sweep(self, steps: int, job: Any) -> None:
        wave, skew = self._wave, self._wave.skew(job)
        halo = self._exchanges[wave.level]
        halo.start()
        for piece in range(PIECES):
            wave.advance_inside(steps, job, self.tiling.numbers, piece, PIECES)
            halo.test()
        for n in range(steps):
            if n:
                halo = self._exchanges[(wave.level + n) % 2]
                halo.start()
                wave.advance_rim(n, job, skew, (n + 1) * skew)
            halo.wait()
            wave.advance_rim(n, job, 0, skew)
        wave.level = (wave.level + steps) % 2

    def pressure(self, out: np.ndarray) -> None:
        """out (image_shape) = pressure of the model's cells of this rank."""
        self._image(out, None)

    def correlate(self, correlation: Correlation) -> None:
        """Accumulate the products with the pressure now."""
        self._image(None, correlation)

    def _image(self, snapshot: np.ndarray | None, correlation: Correlation | None) -> None:
        self.threads.use(self.threads.imaging)
        job = self._job()
        self._add_imaging(job, 0, snapshot, correlation)
        self._wave.image(job)

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

    def _make_exchanges(self, off_grid: bool) -> list[HaloExchange]:
        """One exchange a time level. Without off-grid points a field travels along its own axes only (VTI: u sideways,
        v up and down)."""
        return [
            HaloExchange(
                self.comm,
                self.block,
                [
                    HaloField(self._buffers[2 * field + level], self._first, axes)
                    for field, axes in enumerate(self.physics.exchanged)
                ],
                self._depth,
                corners=off_grid,
            )
            for level in (0, 1)
        ]

    def close(self) -> None:
        """Free what MPI holds for the exchanges."""
        for exchange in self._exchanges:
            exchange.close()
        self._exchanges = []


def _at_imaging_steps(
    steps: int, snapshots: Sequence[np.ndarray | None], correlations: Sequence[Correlation]
) -> dict[int, AtStep]:
    """What is done after which of so many steps, counted from 0."""
    at: dict[int, AtStep] = {}
    for n in range(count := max(len(snapshots), len(correlations))):
        snapshot = snapshots[n] if snapshots else None
        correlation = correlations[n] if correlations else None
        if snapshot is not None or correlation is not None:
            at[steps * (n + 1) // count - 1] = snapshot, correlation
    return at


def _between(computed: np.ndarray, step: int, steps: int) -> int:
    """Rows that so many steps compute from this one on; computed: before each step."""
    last = len(computed) - 1
    return int(computed[min(step + steps, last)] - computed[min(step, last)])
