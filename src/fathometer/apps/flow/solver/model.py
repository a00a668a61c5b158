"""The flow on a rank: a step in time, and what is seen of it.

    for each of three stages (Runge-Kutta of order 3 with two registers; Wray 1990, in Spalart, Moser & Rogers 1991,
    J. Comput. Phys. 96, 297):
        rates of velocity and temperature; a velocity u* without regard to pressure
        lap(phi) = div(u*); u = u* - grad(phi)

The projection of each stage is linear and exact, so that the velocity is of the order of the method. phi over the time
of a stage is the pressure of the first order; `pressure` solves for it at the time of the velocity instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI as mpi

from fathometer import _native
from fathometer.apps.flow.solver.poisson import PressureSolver, Waves
from fathometer.apps.flow.solver.sides import (
    SIDES,
    Halo,
    Side,
    pressure_halo,
    temperature_halo,
    velocity_halo,
)
from fathometer.base import ledger
from fathometer.parallel.collectives import allgather, synchronised
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.parallel.halo import HaloExchange, HaloField

if TYPE_CHECKING:
    from mpi4py import MPI

Floats = npt.NDArray[np.float64]
NOW, BEFORE = (8 / 15, 5 / 12, 3 / 4), (0.0, -17 / 60, -5 / 12)  # weights of the rates in the stages
# Along the axes of the stability region, of dt times the eigenvalue: imaginary (advection) and negative (diffusion).
IMAGINARY, NEGATIVE = math.sqrt(3.0), 2.51
LARGEST_COURANT = IMAGINARY  # sum over axes of speed * dt / spacing


@dataclass(frozen=True, eq=False)
class Fluid:
    """The fluid and what drives it.

    Attributes:
        viscosity, diffusivity: kinematic, of the temperature, m²/s. diffusivity None: there is no temperature.
        acceleration: along x, y and z, m/s², the same everywhere, such as of a mean gradient of the pressure.
        lift: of fluid that is a kelvin warmer than `reference`, m/s²/K: minus gravity times thermal expansion.
    """

    viscosity: float
    acceleration: tuple[float, float, float] = (0.0, 0.0, 0.0)
    diffusivity: float | None = None
    lift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    reference: float = 0.0

    @property
    def heated(self) -> bool:
        """Whether there is a temperature."""
        return self.diffusivity is not None


@dataclass(frozen=True, eq=False)
class Problem:
    """What is solved. cells, spacing (m): along x, y and z, in two dimensions one cell along z. sides: by SIDES."""

    cells: Index3
    spacing: tuple[float, float, float]
    fluid: Fluid
    sides: Mapping[str, Side]

    @property
    def dims(self) -> int:
        """2 or 3."""
        return 2 if self.cells[2] == 1 else 3

    def ends(self, axis: int) -> tuple[Side, Side]:
        """The sides across an axis."""
        return self.sides[SIDES[2 * axis]], self.sides[SIDES[2 * axis + 1]]

    def waves(self, axis: int) -> Waves:
        """Of the pressure along an axis."""
        low, high = self.ends(axis)
        ends = None if low.kind == "periodic" else (low.mirror, high.mirror)
        return Waves(self.cells[axis], self.spacing[axis], ends)

    def diffusive_step(self) -> float:
        """The longest stable time step of diffusion, s."""
        largest = max(self.fluid.viscosity, self.fluid.diffusivity or 0.0)
        rate = 4 * largest * sum(1 / h**2 for h in self.spacing[: self.dims])
        return NEGATIVE / rate if rate else math.inf


def decomposition_of(problem: Problem, ranks: tuple[int, int], rank: int) -> Decomposition:
    """The block of a rank, of axes z, y, x. ranks: along z and y."""
    nx, ny, nz = problem.cells
    z, y = (problem.ends(axis)[0].kind == "periodic" and n > 1 for axis, n in ((2, ranks[0]), (1, ranks[1])))
    return Decomposition((nz, ny, nx), (*ranks, 1), rank, (z, y, False))


class FlowModel:
    """The flow on a rank.

    Args:
        problem: what is solved. ranks: along z and y; in two dimensions 1 along z. comm: as many. workers: threads.

    Attributes:
        fields: [velocities, temperature; z, y, x] with halos of a cell along each axis that there is.
        block: this rank's cells, of axes z, y, x.
    """

    def __init__(self, problem: Problem, ranks: tuple[int, int], comm: MPI.Intracomm, workers: int) -> None:
        self.problem, self.comm, self.workers = problem, comm, workers
        self.block = decomposition_of(problem, ranks, comm.rank)
        dims, shape = problem.dims, self.block.local_shape
        halo = tuple(int(axis > 2 - dims) for axis in range(3))
        padded = tuple(n + 2 * width for n, width in zip(shape, halo, strict=True))
        self._inside = tuple(slice(width, width + n) for n, width in zip(shape, halo, strict=True))
        number = dims + problem.fluid.heated
        self.fields, self._next, self._rates = (np.zeros((number, *padded)) for _ in range(3))
        self._potential = np.zeros(padded)
        self._ends = [self._own_ends(axis) for axis in range(dims)]
        self._kernels = _native.FlowBlock(
            dims=dims,
            cells=list(shape[::-1]),
            spacing=list(problem.spacing),
            first=self._by_axis(lambda low, high: low is not None and low.kind != "periodic"),
            corrected=self._by_axis(lambda low, high: low is not None and low.given),
            beyond=self._by_axis(lambda low, high: high is not None and high.kind == "outflow"),
        )
        waves = [problem.waves(axis) for axis in (2, 1, 0)]
        self._pressure = PressureSolver(problem.cells[::-1], waves, ranks, comm, workers, dims)
        cut = [axis for axis, count in enumerate((*ranks, 1)) if count > 1]
        self._exchanges = {id(array): self._exchange(array, cut) for array in (self.fields, self._next)}
        arrays = (self.fields, self._next, self._rates)
        self._faces = {id(array): self._face_exchange(array, cut) for array in arrays}
        first: Any = tuple(halo)
        self._potential_exchange = HaloExchange(
            comm, self.block, [HaloField(self._potential, first, tuple(cut))] if cut else [], 1
        )
        self._fills = self._fills_of()
        self._speeds = self._outflow_speeds()

    def _own_ends(self, axis: int) -> tuple[Side | None, Side | None]:
        """The sides across an axis at which this rank's block ends; None: another block lies there."""
        low, high = self.problem.ends(axis)
        number = 2 - axis
        whole = self.block.ranks[number] == 1
        at_low = whole or (self.block.lo[number] == 0 and low.kind != "periodic")
        at_high = whole or (self.block.hi[number] == self.block.shape[number] and high.kind != "periodic")
        return low if at_low else None, high if at_high else None

    def _by_axis(self, holds: Any) -> list[int]:
        return [int(holds(*self._ends[axis])) if axis < self.problem.dims else 0 for axis in range(3)]

    def _exchange(self, array: Floats, cut: Sequence[int]) -> HaloExchange:
        """Of all fields, edges between blocks included; along x halos too, where the faces of an open side are."""
        first: Any = (self._inside[0].start, self._inside[1].start, 0)
        fields = [HaloField(one, first) for one in array] if cut else []
        (nz, ny, nx), block = self.block.shape, self.block
        wider = Decomposition((nz, ny, nx + 2), block.ranks, block.rank, block.periodic)
        return HaloExchange(self.comm, wider, fields, 1, corners=True)

    def _face_exchange(self, array: Floats, cut: Sequence[int]) -> HaloExchange:
        """Of the velocities across the faces between blocks."""
        first: Any = tuple(s.start for s in self._inside)
        return HaloExchange(self.comm, self.block, [HaloField(array[2 - axis], first, (axis,)) for axis in cut], 1)

    def _fills_of(self) -> list[tuple[int | None, dict[str, Any]]]:
        """How halos at sides are filled: number of a field, None for the potential, and arguments of the kernel."""
        fills: list[tuple[int | None, dict[str, Any]]] = []
        heated = [self.problem.dims] if self.problem.fluid.heated else []
        for axis in reversed(range(self.problem.dims)):  # x last: it fills edges of the others, too
            for number, side in enumerate(self._ends[axis]):
                if side is None:
                    continue
                for along in range(self.problem.dims):
                    if (halo := velocity_halo(side, axis, along)) is not None:
                        fills.append((along, self._call(halo, axis, number)))
                fills += [(field, self._call(temperature_halo(side), axis, number)) for field in heated]
                fills.append((None, self._call(pressure_halo(side), axis, number)))
        return fills

    def _call(self, halo: Halo, axis: int, side: int) -> dict[str, Any]:
        value, constant = None, 0.0
        if isinstance(halo.value, np.ndarray):
            value = self._on_side(halo.value, axis)
        else:
            constant = float(halo.value)
        return {"axis": axis, "side": side, "kind": halo.kind, "sign": halo.sign, "constant": constant, "value": value}

    def _on_side(self, values: Floats, axis: int) -> Floats:
        """Of values of all cells of a side those of this rank's cells, with halos."""
        found: Floats = values
        for place, number in enumerate(number for number in range(3) if number != 2 - axis):
            width = self._inside[number].start
            cells = np.arange(self.block.lo[number] - width, self.block.hi[number] + width)
            n, joined = self.block.shape[number], self.problem.ends(2 - number)[0].kind == "periodic"
            found = np.asarray(np.take(found, cells % n if joined else np.clip(cells, 0, n - 1), axis=place))
        return np.ascontiguousarray(found, np.float64)

    def _outflow_speeds(self) -> dict[tuple[int, int], float]:
        """Of waves that leave through open sides, m/s: the mean of what comes in opposite; by axis and side."""
        speeds = {}
        for axis in range(self.problem.dims):
            for number, side in enumerate(self._ends[axis]):
                if side is not None and side.kind == "outflow":
                    speeds[axis, number] = abs(float(np.mean(self.problem.ends(axis)[1 - number].velocity[axis])))
        return speeds

    @property
    def arrays(self) -> Floats:
        """The fields of this rank's own cells: [velocities at lower faces, temperature; z, y, x], a view."""
        return self.fields[(slice(None), *self._inside)]

    @property
    def beyond(self) -> list[tuple[int, Floats]]:
        """Velocities through upper sides that are open, which belong to the state: axis, and a view."""
        return [(axis, self._upper(self.fields, axis)) for axis, side in self._speeds if side == 1]

    def _upper(self, fields: Floats, axis: int) -> Floats:
        cells: list[Any] = list(self._inside)
        cells[2 - axis] = self._inside[2 - axis].stop
        return np.asarray(fields[(axis, *cells)])  # a view

    def begin(self) -> None:
        """Collective. Take the fields of this rank's cells as they are, without what divergence they have."""
        self._halos(self.fields)
        for axis, side in self._speeds:  # what leaves is what comes to the last cell
            if side == 1:
                inner: list[Any] = list(self._inside)
                inner[2 - axis] = self._inside[2 - axis].stop - 1
                self._upper(self.fields, axis)[...] = self.fields[(axis, *inner)]
        self._project(self.fields)
        self._halos(self.fields)

    def restore(self) -> None:
        """Collective. Go on with the fields of this rank's cells as they are."""
        self._halos(self.fields)

    def step(self, dt: float) -> None:
        """Collective. Take a step of dt seconds."""
        for now, before in zip(NOW, BEFORE, strict=True):
            self._predict(dt * now, dt * before)
            self._project(self._next)
            self.fields, self._next = self._next, self.fields
            self._halos(self.fields)

    def _predict(self, now: float, before: float) -> None:
        with ledger.phase("momentum"):
            self._rates_of(self.fields, self._next, now, before)

    def _rates_of(self, u: Floats, after: Floats | None, now: float, before: float) -> None:
        fluid = self.problem.fluid
        self._kernels.predict(
            u=u,
            rate=self._rates,
            next=after,
            viscosity=fluid.viscosity,
            diffusivity=fluid.diffusivity or 0.0,
            reference=fluid.reference,
            push=list(fluid.acceleration),
            lift=list(fluid.lift),
            now=now,
            before=before,
        )
        for (axis, side), speed in self._speeds.items():
            self._kernels.leave(
                axis=axis, side=side, speed=speed, u=u, rate=self._rates, next=after, now=now, before=before
            )

    def _project(self, fields: Floats) -> None:
        """Collective. Make velocities free of divergence."""
        with ledger.phase("halos"):
            self._fill(fields, faces=True)
            self._move(self._faces[id(fields)])
        self._potential_of(fields)
        with ledger.phase("projection"):
            self._kernels.correct(potential=self._potential, u=fields)

    def _potential_of(self, fields: Floats) -> None:
        """Collective. The potential, with its halo, whose second difference is the divergence of some velocities."""
        with ledger.phase("projection"):
            divergence = np.empty(self.block.local_shape)
            self._kernels.divergence(u=fields, scale=1.0, result=divergence)
        found = self._pressure.solve(divergence)
        with ledger.phase("projection"):
            self._potential[self._inside] = found
        with ledger.phase("halos"):
            self._move(self._potential_exchange)
            for field, call in self._fills:
                if field is None:
                    self._kernels.fill(field=self._potential, **call)

    def _halos(self, fields: Floats) -> None:
        """Collective. Fill all halos."""
        with ledger.phase("halos"):
            self._move(self._exchanges[id(fields)])
            self._fill(fields)

    def _fill(self, fields: Floats, faces: bool = False) -> None:
        """Fill halos at sides; faces: of velocities through them alone."""
        for field, call in self._fills:
            if field is not None and (not faces or field == call["axis"]):
                self._kernels.fill(field=fields[field], **call)

    def _move(self, exchange: HaloExchange) -> None:
        exchange.start()
        exchange.wait()

    def pressure(self) -> Floats:
        """Collective. p over density at the time of the velocity, m²/s², on this rank's cells; its mean is 0 where no
        side is open. The rates that a step keeps are lost: none is under way."""
        self._rates_of(self.fields, None, 0.0, 0.0)
        with ledger.phase("halos"):
            for field, call in self._fills:
                if field == call["axis"]:
                    given = call if call["kind"] == "wrap" else call | {"constant": 0.0, "value": None}
                    self._kernels.fill(field=self._rates[field], **given)
            self._move(self._faces[id(self._rates)])
        self._potential_of(self._rates)
        return self._potential[self._inside].copy()

    def centred(self) -> Iterator[Floats]:
        """Velocities at the centres of this rank's cells, m/s, along x, y (, z)."""
        for axis in range(self.problem.dims):
            upper = list(self._inside)
            upper[2 - axis] = slice(upper[2 - axis].start + 1, upper[2 - axis].stop + 1)
            velocity = self.fields[axis]
            yield 0.5 * (velocity[self._inside] + velocity[tuple(upper)])

    def vorticity(self) -> Floats:
        """Its magnitude at the centres of this rank's cells, 1/s."""
        result = np.empty(self.block.local_shape)
        self._kernels.vorticity(u=self.fields, result=result)
        return result

    def limits(self) -> dict[str, float]:
        """Collective. The largest sum of speed over spacing, and the largest divergence, 1/s; NaN where a velocity is
        not a number."""
        rows = np.empty((*self.block.local_shape[:2], _native.FLOW_MAXIMA))
        self._kernels.limits(u=self.fields, maxima=rows)
        own = rows.reshape(-1, _native.FLOW_MAXIMA).max(axis=0)
        rate, divergence = np.max(allgather(self.comm, own), axis=0)
        return {"courant_rate": float(rate), "divergence": float(divergence)}

    @cached_property
    def rate_of_sides(self) -> float:
        """Sum over axes of the largest speed of a side over spacing, 1/s: what it drags along comes to that."""
        rate = 0.0
        for axis, spacing in enumerate(self.problem.spacing[: self.problem.dims]):
            speeds = [np.abs(side.velocity.get(axis, 0.0)).max() for side in self.problem.sides.values()]
            rate += float(max(speeds)) / spacing
        return rate

    def largest_drive(self) -> float:
        """Collective. Sum over axes of accelerations over spacing, 1/s². Between walls what is the same everywhere is
        balanced by the pressure; differences of temperature are not."""
        fluid, drive = self.problem.fluid, 0.0
        warmest = spread = 0.0
        if fluid.heated:
            given = [side.temperature for side in self.problem.sides.values() if side.temperature is not None]
            own = [values - fluid.reference for values in (self.arrays[-1], *given)]
            ends = np.array(allgather(self.comm, (min(map(np.min, own)), max(map(np.max, own)))))
            low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
            warmest, spread = max(-low, high), high - low
        for axis, spacing in enumerate(self.problem.spacing[: self.problem.dims]):
            closed = self.problem.ends(axis)[0].kind in ("wall", "slip")
            drive += abs(fluid.lift[axis]) * (spread if closed else warmest) / spacing
            drive += 0.0 if closed else abs(fluid.acceleration[axis]) / spacing
        return drive

    def means(self) -> dict[str, float]:
        """Collective. Over the box: kinetic energy (m²/s²), dissipation (m²/s³), and temperature (K), if there is one;
        over each wall with a temperature: `heat_` and its side, what enters through it over density and heat capacity
        (K m/s). The same on any number of ranks: rows of cells along x are summed up by one rank, and rows in one
        order."""
        nz, ny, _ = self.block.shape
        rows = np.zeros((nz, ny, _native.FLOW_SUMS))
        own = np.empty((*self.block.local_shape[:2], _native.FLOW_SUMS))
        self._kernels.totals(u=self.fields, viscosity=self.problem.fluid.viscosity, sums=own)
        (z0, y0, _), (z1, y1, _) = self.block.lo, self.block.hi
        rows[z0:z1, y0:y1] = own
        with synchronised(self.comm), ledger.communication():
            self.comm.Allreduce(mpi.IN_PLACE, rows, mpi.SUM)  # each is of one rank, and 0 on all others
        cells, names = math.prod(self.block.shape), ("energy", "dissipation", "temperature")
        found = [math.fsum(column) / cells for column in rows.reshape(-1, _native.FLOW_SUMS).T]
        return dict(zip(names[: 2 + self.problem.fluid.heated], found, strict=False)) | self._heat()

    def _heat(self) -> dict[str, float]:
        """Collective. What enters through walls with a temperature: the difference across the side's face, in halos."""
        found = {}
        for number, name in enumerate(SIDES[: 2 * self.problem.dims]):
            (axis, end), side = divmod(number, 2), self.problem.sides[name]
            if side.temperature is None or side.kind == "inflow" or self.problem.fluid.diffusivity is None:
                continue
            across = [n for n in range(3) if n != 2 - axis]
            face = np.zeros([self.block.shape[n] for n in across])
            if self._ends[axis][end] is not None:
                inside, halo = (list[Any](self._inside) for _ in range(2))
                own = self._inside[2 - axis]
                inside[2 - axis], halo[2 - axis] = (own.stop - 1, own.stop) if end else (own.start, own.start - 1)
                temperature = self.fields[-1]
                place = tuple(slice(self.block.lo[n], self.block.hi[n]) for n in across)
                face[place] = temperature[tuple(halo)] - temperature[tuple(inside)]
            with synchronised(self.comm), ledger.communication():
                self.comm.Allreduce(mpi.IN_PLACE, face, mpi.SUM)  # each value is of one rank, and 0 on all others
            rate = self.problem.fluid.diffusivity / self.problem.spacing[axis]
            found[f"heat_{name}"] = rate * math.fsum(face.reshape(-1)) / face.size
        return found

    def diagnostics(self) -> dict[str, float]:
        """Collective. `means` and `limits`."""
        return self.means() | self.limits()

    def close(self) -> None:
        """Free what MPI keeps."""
        for exchange in [*self._exchanges.values(), *self._faces.values(), self._potential_exchange]:
            exchange.close()
        self._pressure.close()
