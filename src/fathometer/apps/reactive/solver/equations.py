"""The balance of a rank's cells in a step: residual, exact Jacobian, what leaves through the sides.

    r_j = (Psi_j - Psi_old_j + f sum over faces of outgoing F_j - dt/(phi rho) sum_k nu_kj R_k) / scale_j

with f = dt / (phi V), see native/reactive/transport.hpp, and scale_j the largest sum of the magnitudes that make up the
total of component j, c_j + sum_i |nu_ij| c_i, over all waters of the flow. The scales depend on the waters alone, so
that a run that goes on from a state takes the same steps, bit by bit. They are not the totals themselves, as these may
cancel: the total of H+ is near zero in pure water, where no residual could be small beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.apps.reactive.solver.distributed_grid import CHUNK_ROWS, ENTRIES
from fathometer.apps.reactive.solver.faces import Faces
from fathometer.apps.reactive.solver.flow import CLOSED, Floats, Flow
from fathometer.apps.reactive.solver.kernel import kernel_of
from fathometer.apps.reactive.solver.sides import block_sides
from fathometer.base import ledger
from fathometer.parallel.decomposition import Index3

INSIDE, GIVEN, BEYOND = range(3)  # kinds of a ghosted block's cells: of the grid; outside, with a water; without one


@dataclass(frozen=True, eq=False)
class Block:
    """A rank's block. lo, hi: its cells; low, high: those with the cells around it that its vectors have."""

    lo: Index3
    hi: Index3
    low: Index3
    high: Index3

    @property
    def shape(self) -> Index3:
        """Owned cells."""
        return tuple(b - a for a, b in zip(self.lo, self.hi, strict=True))  # type: ignore[return-value]

    @property
    def ghosted_shape(self) -> Index3:
        """Cells with those around them."""
        return tuple(b - a for a, b in zip(self.low, self.high, strict=True))  # type: ignore[return-value]

    @property
    def offset(self) -> Index3:
        """Cells around it before the first owned one."""
        return tuple(b - a for a, b in zip(self.low, self.lo, strict=True))  # type: ignore[return-value]

    @property
    def owned(self) -> tuple[slice, ...]:
        """The owned cells in a ghosted array."""
        return tuple(slice(start, start + n) for start, n in zip(self.offset, self.shape, strict=True))


class Equations:
    """The equations of this rank's cells. Arrays have axes x, y, z and components last.

    Attributes:
        scale: (n,), mol/kg, see above.
    """

    def __init__(self, flow: Flow, block: Block, faces: Faces) -> None:
        self._flow, self._block, self._faces = flow, block, faces
        self._n, self._k = len(flow.system.primary), len(flow.system.minerals)
        self._kernel = kernel_of(flow.system)
        self._volume = math.prod(flow.spacing)
        self.porosity = np.ascontiguousarray(flow.porosity(block.lo, block.hi))
        self._kind, water = self._outside()
        self._totals = np.zeros((*block.ghosted_shape, self._n))
        self.outside = np.broadcast_to(flow.waters[0], self._totals.shape).copy()
        self.outside[water >= 0] = flow.waters[water[water >= 0]]
        self.scale = self._scales()
        self._balance, self._balanced = balance_of(flow.system.charge[: self._n], self.scale)
        self.minerals = np.zeros((*block.shape, self._k))  # after the step, of the latest residual
        self._reaction = np.zeros((*block.shape, self._n))
        self._old_minerals, self._old_totals = np.zeros_like(self.minerals), np.zeros_like(self._reaction)
        self._factor, self._share = np.zeros(block.shape), np.zeros(math.prod(block.shape))
        self._dt = 0.0

    def begin(self, ln_c: Floats, minerals: Floats, dt: float) -> None:
        """A step of dt s from a state (x, y, z, n), (x, y, z, k)."""
        self._dt = dt
        self._old_minerals[...] = minerals
        self._old_totals[...] = self.totals(ln_c)
        self._factor[...] = dt / (self.porosity * self._volume)
        self._share[...] = (dt / (self.porosity * self._flow.density)).reshape(-1)

    def rounding(self) -> float:
        """Sum of squares over this rank's residuals of what rounding may make of them, in the step that has begun."""
        through = np.zeros(self._block.shape)
        for axis, (q, g) in enumerate(zip(self._faces.flux, self._faces.conductance, strict=True)):
            both = np.abs(q) + 2 * g
            through += np.delete(both, -1, axis) + np.delete(both, 0, axis)
        sizes = np.finfo(float).eps * (2 + self._factor * through)
        return float(self._n * np.sum(sizes**2))

    def residual(self, ghosted: Floats, owned: Floats, out: Floats) -> None:
        """The residual `out` of ln c in the ghosted block and in the owned one, both contiguous."""
        with ledger.phase("assemble residual"):
            self._kernel.totals(self._flat(ghosted), self._flat(self._totals))
            self._react(owned)
            _native.reactive_residual(**self._arguments(), old=self._old_totals, reaction=self._reaction, out=out)

    def jacobian(self, ghosted: Floats, owned: Floats, matrix: Any, integer: Any) -> None:
        """Put the blocks of d residual / d ln c into a matrix, which is then to be assembled; integer: PETSc's type."""
        n, shape = self._n, self._block.shape
        derivative = np.empty((*self._block.ghosted_shape, n, n))
        reaction_derivative = np.empty((*shape, n, n))
        self._kernel.totals(self._flat(ghosted), self._flat(self._totals), derivative.reshape(-1, n, n))
        self._react(owned, reaction_derivative.reshape(-1, n, n))
        plane, entries = shape[1] * shape[2], ENTRIES[self._flow.scheme]
        planes = max(1, min(shape[0], CHUNK_ROWS // plane))
        columns = np.empty((planes * plane, entries), np.int32)
        values = np.empty((planes * plane, n, entries, n))
        for begin in range(0, shape[0], planes):
            end = min(begin + planes, shape[0])
            rows = (end - begin) * plane
            _native.reactive_jacobian(
                **self._arguments(),
                derivative=derivative,
                reaction_derivative=reaction_derivative,
                begin=begin,
                end=end,
                columns=columns[:rows],
                values=values[:rows],
            )
            numbers = columns[:rows].astype(integer, copy=False)
            matrix.setValuesBlockedLocalRCV(numbers[:, :1].copy(), numbers, values[:rows])

    def totals(self, ln_c: Floats) -> Floats:
        """Total molalities (x, y, z, n), mol/kg, of owned cells."""
        out = np.empty_like(ln_c)
        self._kernel.totals(self._flat(ln_c), self._flat(out))
        return out

    def species(self, ln_c: Floats) -> tuple[Floats, Floats]:
        """ln activities (x, y, z, n + m), primary species first, and ionic strength (x, y, z), mol/kg, of owned
        cells."""
        system = self._flow.system
        strength = np.empty(ln_c.shape[:-1])
        ln_activity = np.empty((*strength.shape, len(system.primary) + len(system.secondary)))
        self._kernel.species(self._flat(ln_c), self._flat(ln_activity), strength.reshape(-1))
        return ln_activity, strength

    def moles(self, ln_c: Floats, minerals: Floats) -> Floats:
        """Moles of each component (n,) in the water and minerals of this rank's cells, summed exactly."""
        water = self.totals(ln_c) * (self.porosity * self._volume * self._flow.density)[..., None]
        solid = minerals @ self._flow.system.mineral_stoichiometry * self._volume
        return np.array([math.fsum(np.concatenate([w.ravel(), s.ravel()])) for w, s in _by_component(water, solid)])

    def outflow(self) -> Floats:
        """Moles of each component (n,) that left through this rank's faces of the sides in the step whose residual was
        taken last, by the very fluxes of the residual; what came in counts as negative."""
        left: list[list[float]] = [[] for _ in range(self._n)]
        for side in block_sides(self._flow, self._block.lo, self._block.hi):
            own = self._totals[self._block.owned][side.plane]
            beyond = list(self._block.owned)
            start, stop = self._block.owned[side.axis].start, self._block.owned[side.axis].stop
            beyond[side.axis] = stop if side.last else start - 1
            q = side.outward * self._faces.flux[side.axis][side.plane][..., None]
            g = self._faces.conductance[side.axis][side.plane][..., None]
            given = (side.kind != CLOSED) & (side.water >= 0)
            out = q * own
            if given.any():
                water = self._totals[tuple(beyond)]
                moved = np.where(q >= 0, q * own, q * water) - g * (water - own)
                out = np.where(given[..., None], moved, out)
            for j in range(self._n):
                left[j].extend((self._dt * self._flow.density * out[..., j]).ravel())
        return np.array([math.fsum(values) for values in left])

    def _react(self, ln_c: Floats, derivative: Floats | None = None) -> None:
        self._kernel.reaction(
            self._flat(ln_c),
            self._flat(self._old_minerals),
            self._dt,
            self._share,
            self._flat(self.minerals),
            self._flat(self._reaction),
            derivative,
        )

    def _arguments(self) -> dict[str, Any]:
        """Of both transport kernels."""
        flux, conductance = self._faces.flux, self._faces.conductance
        return {
            "totals": self._totals,
            "kind": self._kind,
            "low": self._block.offset,
            "factor": self._factor,
            "flux_x": flux[0],
            "flux_y": flux[1],
            "flux_z": flux[2],
            "conductance_x": conductance[0],
            "conductance_y": conductance[1],
            "conductance_z": conductance[2],
            "scheme": self._flow.scheme,
            "inverse_scale": 1.0 / self.scale,
            "balance": self._balance,
            "balanced": self._balanced,
        }

    def _outside(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Kinds of the ghosted block's cells, and the numbers of the waters of those outside, -1 where there is
        none."""
        block, grid = self._block, self._flow.shape
        kind = np.full(block.ghosted_shape, BEYOND, np.uint8)
        water = np.full(block.ghosted_shape, -1, np.int64)
        kind[tuple(slice(max(0, -a), min(b, c) - a) for a, b, c in zip(block.low, block.high, grid, strict=True))] = (
            INSIDE
        )
        for side in block_sides(self._flow, block.lo, block.hi):
            given = (side.kind != CLOSED) & (side.water >= 0)
            if given.any():
                start, stop = block.owned[side.axis].start, block.owned[side.axis].stop
                part = list(block.owned)
                part[side.axis] = stop if side.last else start - 1
                kind[tuple(part)] = np.where(given, GIVEN, BEYOND)
                water[tuple(part)] = np.where(given, side.water, -1)
        return kind, water

    def _scales(self) -> Floats:
        system, waters = self._flow.system, np.ascontiguousarray(self._flow.waters)
        count = len(system.primary) + len(system.secondary)
        activity, molality = (np.empty((len(waters), count)) for _ in range(2))
        self._kernel.species(waters, activity, np.empty(len(waters)), molality)
        c = np.exp(molality)
        sums = c[:, : self._n] + c[:, self._n :] @ np.abs(system.stoichiometry)
        scale: Floats = sums.max(axis=0)
        return scale

    def _flat(self, values: Floats) -> Floats:
        """Cells by numbers, of a contiguous array."""
        return values.reshape(-1, values.shape[-1]) if values.shape[-1] else np.empty((math.prod(values.shape[:-1]), 0))


def balance_of(charge: Floats, scale: Floats) -> tuple[Floats, int]:
    """How one component's limited flux follows from those of the others so that they carry no charge: factors (n,) and
    its number; -1: nothing has a charge. It is the ion of which there is most, as it feels it least."""
    number = int(np.argmax(np.where(charge != 0, scale, 0.0)))
    if not charge[number]:
        return np.zeros(len(charge)), -1
    factors = -charge / charge[number]
    factors[number] = 0.0
    return factors, number


def _by_component(water: Floats, solid: Floats) -> list[tuple[Floats, Floats]]:
    return [(water[..., j], solid[..., j]) for j in range(water.shape[-1])]


def axes_with_waters(flow: Flow) -> tuple[bool, bool, bool]:
    """Axes at one of whose sides there is a water outside."""
    found = [
        any(
            bool(((side.kind != CLOSED) & (side.water >= 0)).any())
            for side in (flow.sides[f"{name}-"], flow.sides[f"{name}+"])
        )
        for name in "xyz"
    ]
    return found[0], found[1], found[2]
