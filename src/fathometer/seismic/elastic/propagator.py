"""Time stepping of elastic waves on this rank's block, with sources, receivers, absorbing layers and halos.

    stage 0   v     += dt / rho (div sigma + f)      needs the halos of the stresses
    stage 1   sigma += dt (C : grad v - dM/dt)       needs the halos of the velocities

The kernels are in native/elastic; sweeps and exchanges are those of seismic/waves/stepped.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer import _native
from fathometer.grid.arrays import allocate, padded
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.parallel.halo import HaloExchange, HaloField
from fathometer.seismic.elastic.closure import norms, tables
from fathometer.seismic.elastic.contact import SeaFloor
from fathometer.seismic.elastic.contact_tables import contact_tables
from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import BY_NAME, REACH, STRESS, VELOCITY, fields_of
from fathometer.seismic.elastic.floor_strip import native_tables
from fathometer.seismic.elastic.layers import elastic_layers
from fathometer.seismic.elastic.medium import Medium
from fathometer.seismic.elastic.sloping_floor import IN_FLOOR, SlopingFloor, depths_around
from fathometer.seismic.waves.points import WEIGHTS, halo_depth, together
from fathometer.seismic.waves.recording import LineExchange, Receivers, Recording, room_for, select
from fathometer.seismic.waves.scheme import Scheme
from fathometer.seismic.waves.stepped import PointSet, SteppedFields, at_points

STAGES = 2
DERIVATIVE = np.array([9 / 8, -1 / 24])  # between two neighbours, and the two beyond


class ElasticPropagator(SteppedFields):
    """Velocities and stresses, zero at first.

    Args:
        grid: the computational grid with its padding.
        block: this rank's block of `grid.full_shape`.
        medium: the arrays of the kernels on the owned cells.
        off_grid: whether any receiver lies between points of its field, which then takes more of rows that are cut.
        comm: the communicator whose ranks share the grid. floor: of the sea, whose medium is that of contact_media.py
            or sloping_media.py.

    Attributes:
        peak: largest velocities since rest in the plane that `watch_peaks` was asked for, sqrt(vx^2 + vy^2) and |vz| at
            nodes, each (nx, ny) of the owned columns; None where this rank has no part of the plane.
        in_floor: vz of the water in a sea floor that slopes, (nx, ny) of the owned columns; else empty.
    """

    def __init__(
        self,
        grid: Grid,
        block: Decomposition,
        medium: Medium,
        scheme: Scheme,
        off_grid: bool,
        comm: MPI.Intracomm,
        floor: SeaFloor | SlopingFloor | None = None,
    ) -> None:
        depth = halo_depth(REACH, off_grid, block.ranks)
        super().__init__(grid, block, scheme.dtype, depth, comm, STAGES)
        self.scheme, self._floor = scheme, floor
        self.peak: tuple[np.ndarray, np.ndarray] | None = None
        self._fields = fields_of(grid.two_dimensional)
        names = [field.name for field in self._fields] + [IN_FLOOR]
        self._number = {name: n for n, name in enumerate(names)}
        self._arrays = self._allocate(len(self._fields))
        self._model = _model_arrays(medium, self._fields_of(VELOCITY), self._fields_of(STRESS))
        relaxation = medium.relaxation
        stresses = len(self._fields_of(STRESS)) if relaxation is not None else 0
        nx, ny, nz = block.local_shape
        owned: Index3 = (nx, ny, padded(nz, self.itemsize))
        self._zeta = [allocate(owned, scheme.dtype, stagger=n) for n in range(stresses)]
        kind: Any = _native.ElasticFloat32 if scheme.dtype == np.float32 else _native.ElasticFloat64
        self._wave = kind(
            has_y=not grid.two_dimensional,
            shape=block.local_shape,
            first=self._first,
            fields=self._arrays,
            model=self._model,
            weights=np.array([DERIVATIVE / h for h in grid.stencil_spacing], scheme.dtype),
            closure=np.asarray(tables() / grid.spacing[2], scheme.dtype),
            free_surface=scheme.free_surface and block.lo[2] == 0,
            cut=self.cut_sides,
            exchanged=depth if block.size > 1 else 0,
            zeta=self._zeta,
            decay=relaxation.decay if relaxation is not None else (0.0, 0.0, 0.0),
            mechanism=sum(block.lo),
        )
        self._layers = elastic_layers(grid, block, scheme)
        for layer in self._layers:
            self._wave.add_layer(**layer.arguments())
        self.in_floor = np.zeros((nx, ny) if isinstance(floor, SlopingFloor) else (0, 0), scheme.dtype)
        if isinstance(floor, SlopingFloor):
            assert medium.water_in_floor is not None
            self._wave.set_sloping_floor(
                depth=depths_around(floor, block, grid.two_dimensional),
                spacing=grid.spacing,
                water=self.in_floor,
                buoyancy=medium.water_in_floor,
                **native_tables(scheme.dtype),
            )
        elif floor is not None:
            self._wave.set_contact(**contact_tables(floor, block.local_shape[2], grid.spacing[2], scheme.dtype))
        if block.size > 1:
            self._exchanges = [self._exchange(resting, off_grid) for resting in (STRESS, VELOCITY)]
            stresses_across, velocities_across = (
                [self._number[name] for name, axes in self._exchanged(resting) if 1 in axes]
                for resting in (STRESS, VELOCITY)
            )
            self._faces = self._make_faces((stresses_across, velocities_across))
        self._flops = flops_per_point(grid.two_dimensional, relaxation is not None)

    def _fields_of(self, stage: int) -> list[str]:
        return [field.name for field in self._fields if field.stage == stage]

    def _exchange(self, stage: int, off_grid: bool) -> HaloExchange:
        """Of the fields that rest while the other stage reads them; stresses along the axes in their names."""
        lines = {2} if off_grid and self.block.ranks[2] > 1 else set()  # which receivers take of rows
        fields = [
            HaloField(self._arrays[self._number[name]], self._first, tuple({*axes} | lines))
            for name, axes in self._exchanged(stage)
        ]
        return HaloExchange(self.comm, self.block, fields, self._depth)

    def _exchanged(self, stage: int) -> list[tuple[str, tuple[int, ...]]]:
        """Fields of a stage, and the axes along which the other stage differentiates them."""
        return [(field.name, field.axes) for field in self._fields if field.stage == stage]

    @property
    def radius(self) -> int:
        """Cells that a stage reaches; where rows are cut along z, receivers between cells too."""
        return self._depth

    @property
    def field_count(self) -> int:
        """Fields that are stepped."""
        return len(self._fields)

    @property
    def array_count(self) -> int:
        """Arrays of a step: fields, memory variables of attenuation, the medium."""
        return len(self._arrays) + len(self._zeta) + len(self._model)

    def injectors(self, points: Sequence[FieldPoints]) -> PointSet:
        """Sources: what touches this rank's cells; `indices`: the columns that it needs."""
        touching = [some.at(some.points.touching(self.block)) for some in points]
        columns, local = np.unique(
            np.concatenate([np.empty(0, np.int64), *(some.column for some in touching)]), return_inverse=True
        )
        weights = [some.points.weight.copy() for some in touching]
        for some, weight in zip(touching, weights, strict=True):
            weight[:, 2] /= self._norms(some)
        return PointSet(columns, self._native_points(touching, local.reshape(-1), weights, False))

    def samplers(self, points: Sequence[FieldPoints]) -> Receivers:
        """Collective. The points as receivers, of which a rank records those whose nearest point it owns; `indices`:
        columns that it records. Values of points of one column are added up."""
        chosen = [select(self.block, some.points) for some in points]
        touching = [of.at(numbers) for of, (numbers, _) in zip(points, chosen, strict=True)]
        owners = np.concatenate([np.empty(0, np.int64), *(owners for _, owners in chosen)])
        own = owners == self.block.rank
        column = np.concatenate([np.empty(0, np.int64), *(some.column for some in touching)])
        columns, local = np.unique(column[own], return_inverse=True)
        column[own], column[~own] = local.reshape(-1), -1
        exchange = LineExchange(self.comm, self.block, together([some.points for some in touching]), owners)
        native = self._native_points(touching, column, [some.points.weight for some in touching], True)
        return Receivers(columns, native, exchange, room_for(self.comm, exchange.lines, self.itemsize))

    def _native_points(
        self, points: Sequence[FieldPoints], column: np.ndarray, weights: Sequence[np.ndarray], receivers: bool
    ) -> Any:
        """weights: before the points' amplitudes."""
        all_points = together([some.points for some in points])
        scaled = [weight.copy() for weight in weights]
        for some, weight in zip(points, scaled, strict=True):
            weight[:, 0] *= some.amplitude[:, None]
        fields = [np.full(len(some.column), self._number[some.field], np.int32) for some in points]
        return self._points_kind(
            first=np.ascontiguousarray(all_points.first - np.array(self.block.lo)),
            count=np.ascontiguousarray(all_points.count),
            weight=np.concatenate([np.empty((0, 3, WEIGHTS)), *scaled]).astype(self.scheme.dtype),
            column=np.ascontiguousarray(column, np.int64),
            shape=self.block.local_shape,
            receivers=receivers,
            field=np.concatenate([np.empty(0, np.int32), *fields]),
        )

    def _norms(self, points: FieldPoints) -> np.ndarray:
        """(n, WEIGHTS): what the planes of the points' boxes stand for: next to a free surface or the sea floor other
        than a cell each, so that a source is there, too, the transpose of a receiver."""
        half, cells = points.field == IN_FLOOR or BY_NAME[points.field].offset[2] > 0, self.grid.full_shape[2]
        norm = norms(half, cells) if self.scheme.free_surface else np.ones(cells)
        planes = points.points.first[:, 2][:, None] + np.arange(WEIGHTS)
        out = norm[np.clip(planes, 0, len(norm) - 1)]
        if self._floor is not None:
            out = out * self._floor.inertia(points.field, points.points.first, WEIGHTS)
        return np.asarray(out)

    def watch_peaks(self, plane: int) -> None:
        """Keep the largest velocities in the plane k = `plane` of the padded grid from now on (`peak`)."""
        local = plane - self.block.lo[2]
        if 0 <= local < self.block.local_shape[2]:
            shape = self.block.local_shape[:2]
            self.peak = np.zeros(shape, self.scheme.dtype), np.zeros(shape, self.scheme.dtype)
            self._wave.watch_peaks(local, *self.peak)

    def reset(self) -> None:
        """Back to rest, at step 0."""
        for array in (*self._changing(), *(self.peak or ())):
            array.fill(0)
        self.step = 0

    def field(self, name: str) -> np.ndarray:
        """View (nx, ny, nz) of the owned cells of a field as it is now."""
        return self.owned(self._arrays[self._number[name]])

    @property
    def changing_bytes(self) -> int:
        """Of the fields with their halos and of all memories."""
        return sum(array.nbytes for array in self._changing())

    def _changing(self) -> list[np.ndarray]:
        """All that changes from step to step: fields, memories of attenuation and of the layers, water in a
        floor."""
        return [
            *self._arrays,
            *self._zeta,
            self.in_floor,
            *(memory for layer in self._layers for memory in layer.memory),
        ]

    def advance(
        self,
        steps: int,
        sources: PointSet | None = None,
        injected: np.ndarray | None = None,
        receivers: Receivers | None = None,
        recorded: np.ndarray | None = None,
    ) -> None:
        """Take `steps` time steps. Collective where there are neighbours or trials.

        Args:
            injected: (steps, columns of `sources`) in the propagation's dtype: row n is injected in step n.
            recorded: (steps, columns of `receivers`), written: row n holds velocities in the middle of step n and
                stresses before it.
        """

        def make_job(some: slice, recording: Recording | None) -> Any:
            return self._job(**at_points(some, sources, injected, recording))

        self._take(steps, make_job, self._flops, "source", receivers=receivers, recorded=recorded)


def _model_arrays(medium: Medium, velocities: Sequence[str], stresses: Sequence[str]) -> list[np.ndarray]:
    """In the kernels' order (native/elastic/fields.hpp)."""
    shear = [medium.shear[name] for name in stresses if name in medium.shear]
    arrays = [*(medium.buoyancy[name] for name in velocities), medium.p_modulus, medium.lame, *shear]
    if medium.relaxation is not None:
        arrays += [medium.relaxation.defect_p, medium.relaxation.defect_s]
    return arrays


def flops_per_point(flat: bool, relaxing: bool) -> int:
    """Additions and multiplications of a cell's step, multiply-adds counted as two (native/elastic/piece.hpp).

    Those of layers, sources and receivers are not counted. flat: two dimensions.
    """
    axes = 2 if flat else 3
    derivatives = 2 * axes**2 * 5
    forces = axes * (axes - 1 + 2)
    normal = 2 * (axes - 1) + 2 + (0 if flat else 2) + 3 * axes
    shear = 3 * (axes * (axes - 1) // 2)
    relaxed = (axes * 11 + 7 * (axes * (axes - 1) // 2)) if relaxing else 0
    return derivatives + forces + normal + shear + relaxed
