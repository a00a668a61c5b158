"""Time stepping of one acoustic wavefield on this rank's block, with its sources, receivers, absorbing boundaries and
halos; the sweeps are those of stepped.py.

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
from fathometer.grid.arrays import padded
from fathometer.grid.grid import Grid
from fathometer.grid.stencil import second_derivative_weights, staggered_weights
from fathometer.parallel.decomposition import Decomposition
from fathometer.parallel.halo import HaloExchange, HaloField
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.layers import Layer, damping_profiles, pml_layers
from fathometer.seismic.waves.physics import physics_of
from fathometer.seismic.waves.points import SincPoints, halo_depth
from fathometer.seismic.waves.recording import LineExchange, Receivers, Recording, room_for, select
from fathometer.seismic.waves.scheme import Scheme
from fathometer.seismic.waves.stepped import PointSet, SteppedFields, at_points


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


class Propagator(SteppedFields):
    """One wavefield, zero at first.

    Args:
        grid: the computational grid with its padding.
        block: this rank's block of `grid.full_shape`.
        model: dt^2 M on the owned cells from earth.scaled_medium: one array (isotropic) or three (VTI).
        off_grid: whether any receiver lies between cells, which takes more of rows that ranks cut along z.
        comm: the communicator whose ranks share the grid.
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
        depth = halo_depth(scheme.radius, off_grid, block.ranks)
        super().__init__(grid, block, scheme.dtype, depth, comm)
        self.scheme = scheme
        self._active: np.ndarray | None = None
        self._computed: np.ndarray | None = None  # rows, before each step
        self._computed_by_all: np.ndarray | None = None
        self.physics = physics_of(model)
        weights, staggered = (
            second_derivative_weights(scheme.radius, scheme.space_weights),
            staggered_weights((scheme.radius + 1) // 2),
        )
        self._layers: list[Layer] = pml_layers(grid, block, scheme)
        self._wave = self._make_wave(
            model,
            np.array([weights / h**2 for h in grid.stencil_spacing], scheme.dtype),
            np.array([staggered / h for h in grid.stencil_spacing], scheme.dtype),
        )
        self._exchanges = self._make_exchanges(off_grid) if block.size > 1 else []
        across = [field for field, axes in enumerate(self.physics.exchanged) if 1 in axes]
        self._faces = self._make_faces((across, across))
        self._scale = 1 / grid.cell_volume
        self._flops = self.physics.flops_per_point(2 * scheme.radius, grid.two_dimensional)

    def _make_wave(self, model: list[np.ndarray], weights: np.ndarray, staggered: np.ndarray) -> Any:
        """The kernels' view of the fields, at rest; weights: (3, R + 1), (3, (R + 1) / 2) along x, y, z."""
        scheme = self.scheme
        # Two time levels of each field take turns: field 0 level 0, field 0 level 1, field 1 level 0, …
        self._buffers = self._allocate(2 * self.physics.fields)
        kind: Any = _native.WavefieldFloat32 if scheme.dtype == np.float32 else _native.WavefieldFloat64
        wave = kind(
            radius=scheme.radius,
            has_y=not self.grid.two_dimensional,
            shape=self.block.local_shape,
            first=self._first,
            buffers=self._buffers,
            model=model,
            weights=weights,
            staggered=staggered,
            damping=damping_profiles(self.grid, self.block, scheme),
            free_surface=scheme.free_surface and self.block.lo[2] == 0,
            cut=self.cut_sides,
            exchanged=self._depth if self.block.size > 1 else 0,
        )
        for layer in self._layers:
            wave.add_layer(**layer.arguments())
        return wave

    @property
    def wave(self) -> Any:
        """The kernels' view of the fields."""
        return self._wave

    @property
    def radius(self) -> int:
        """Cells that the stencil reaches."""
        return self.scheme.radius

    @property
    def field_count(self) -> int:
        """Fields that are stepped."""
        return self.physics.fields

    @property
    def array_count(self) -> int:
        """Arrays of a step: two time levels of each field, and the model."""
        return self.physics.arrays

    def injectors(self, points: SincPoints) -> PointSet:
        """The points whose boxes touch this rank's cells, as sources."""
        indices = points.touching(self.block)
        return PointSet(indices, self._native_points(points.of(indices), np.arange(len(indices)), False))

    def samplers(self, points: SincPoints) -> Receivers:
        """Collective. The points as receivers, of which a rank records those whose nearest cell it owns."""
        numbers, owners = select(self.block, points)
        some, own = points.of(numbers), owners == self.block.rank
        column = np.where(own, np.cumsum(own) - 1, -1)
        exchange = LineExchange(self.comm, self.block, some, owners)
        steps = room_for(self.comm, exchange.lines, self.itemsize)
        return Receivers(numbers[own], self._native_points(some, column, True), exchange, steps)

    def _native_points(self, points: SincPoints, column: np.ndarray, receivers: bool) -> Any:
        return self._points_kind(
            **self._point_arrays(points, column), shape=self.block.local_shape, receivers=receivers
        )

    def _point_arrays(self, points: SincPoints, column: np.ndarray) -> dict[str, np.ndarray]:
        """Of points as kernels take them, in indices of the block."""
        return {
            "first": np.ascontiguousarray(points.first - np.array(self.block.lo)),
            "count": np.ascontiguousarray(points.count),
            "weight": np.ascontiguousarray(points.weight, self.scheme.dtype),
            "column": np.ascontiguousarray(column, np.int64),
        }

    def reset(self, active: ActiveRows | None = None) -> None:
        """Back to rest, at step 0; active: the rows that are computed in the steps to come, None: all in all steps."""
        self._active = None if active is None else active.on(self.block)
        self._rest()
        self.step = 0
        self._computed = None if active is None else active.computed(self.block)
        self._computed_by_all = None if active is None or self.trials is None else active.computed()

    def _rest(self) -> None:
        """Zero all that changes."""
        for array in self._arrays():
            array.fill(0)
        self._wave.level = 0

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
        receivers: Receivers | None = None,
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
        imaging = _at_imaging_steps(steps, snapshots, correlations)
        kind = "receivers" if correlations else "source, snapshots" if snapshots else "source"
        share = self._share(steps) if self.trials is not None else 1.0
        make_job = partial(self._make_job, sources, injected, imaging)
        self._take(steps, make_job, self._flops, kind, share, self._rows(steps), receivers, recorded)

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
        imaging: Mapping[int, AtStep],
        steps: slice,
        recording: Recording | None,
    ) -> Any:
        """The job of the steps `steps` of an advance. imaging: what is done after which of the advance's steps."""
        arguments = at_points(steps, sources, injected, recording)
        if "sources" in arguments:
            arguments["scale"] = self._scale
        if self._active is not None:
            arguments |= {"active": self._active, "start": self.step + (steps.start or 0)}
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

    def _exchanged_axes(self, off_grid: bool) -> list[tuple[int, ...]]:
        """Of each field; with those along which receivers between cells take lines of rows that are cut."""
        lines = {2} if off_grid and self.block.ranks[2] > 1 else set()
        return [tuple({*axes} | lines) for axes in self.physics.exchanged]

    def _make_exchanges(self, off_grid: bool) -> list[HaloExchange]:
        """One exchange a time level. A field travels along its own axes only (VTI: u sideways, v up and down); where
        receivers take lines of rows that are cut along z, also along these."""
        return [
            HaloExchange(
                self.comm,
                self.block,
                [
                    HaloField(self._buffers[2 * field + level], self._first, axes)
                    for field, axes in enumerate(self._exchanged_axes(off_grid))
                ],
                self._depth,
            )
            for level in (0, 1)
        ]


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
