"""What an ocean is watched for: rows of its time series, contents, and a state that comes apart."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fathometer.apps.ocean.barotropic.block_layout import Layout
from fathometer.apps.ocean.solver.baroclinic import Baroclinic
from fathometer.apps.ocean.solver.problem import Problem
from fathometer.apps.ocean.solver.state import Floats, State
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import allgather

if TYPE_CHECKING:
    from mpi4py import MPI

COURANT = 1.0  # largest part of a cell's water that may leave it along an axis in a step


class Worst(NamedTuple):
    """Of the steps since the last look, on a rank: the largest Courant number, the thinnest uppermost level, whether
    all was finite."""

    courant: float
    thinnest: float
    finite: bool


_NOTHING = Worst(0.0, math.inf, True)


class Watch:
    """Looks at the state of a rank's blocks.

    Args:
        kernels, state: of the model, which steps that.

    Attributes:
        sound: whether no look has found anything wrong.
    """

    def __init__(
        self, problem: Problem, layout: Layout, comm: MPI.Intracomm, kernels: Baroclinic, state: State
    ) -> None:
        self._problem, self._layout, self._comm, self._kernels, self._state = problem, layout, comm, kernels, state
        wet = layout.blocked(problem.grid.levels) > 0
        self._own_wet = np.zeros_like(wet)
        for number in range(len(layout.own)):
            layout.owned(self._own_wet, number)[...] = layout.owned(wet, number)
        self._worst = _NOTHING
        self.sound = True

    def note_step(self) -> None:
        """Remember what is worst in this step, whose fluxes are known and whose tracers are not yet stepped."""
        lateral, vertical, finite = self._kernels.courant(self._state, self._problem.step)
        top = self._state.eta_next[self._own_wet] + self._problem.grid.thickness[0]
        before = self._worst
        self._worst = Worst(
            max(before.courant, lateral, vertical),
            min(before.thinnest, float(top.min(initial=math.inf))),
            before.finite and finite,
        )

    def contents(self) -> list[float]:
        """Collective. Content of each tracer in the whole ocean, its unit x m³."""
        return [self._content(tracer) for tracer in self._state.tracers]

    def volume(self) -> float:
        """Collective. Of the whole ocean, m³."""
        return self._content(None)

    def _content(self, tracer: Floats | None) -> float:
        """Sums of columns are added as exact numbers, so that the sum is the same for any blocks."""
        grid, columns = self._problem.grid, []
        for number, block in enumerate(self._layout.own):
            part = tuple(slice(a, b) for a, b in zip(block.lo, block.hi, strict=True))
            wet = np.arange(grid.shape[2]) < grid.levels[part][..., None]
            thickness = np.where(wet, grid.thickness, 0.0)
            thickness[..., 0] += np.where(wet[..., 0], self._layout.owned(self._state.eta, number), 0.0)
            values = thickness if tracer is None else thickness * self._layout.owned(tracer, number)
            columns += (values.sum(-1) * grid.area[part[1]]).ravel().tolist()
        return math.fsum(chain.from_iterable(allgather(self._comm, columns)))

    def look(self) -> dict[str, float]:
        """Collective. What a row of the time series has: kinetic energy and largest speed, means of temperature and
        salinity, the largest Courant number of the steps since the last row.

        Raises FathometerError where the state is not finite, the uppermost level has run dry, or a step is too long for
        the velocities.
        """
        grid, state = self._problem.grid, self._state
        energy, speed = [], 0.0
        for number, block in enumerate(self._layout.own):
            u, v = (self._layout.owned(w, number) for w in (state.u, state.v))
            square = u * u + v * v
            speed = max(speed, math.sqrt(float(square.max(initial=0.0))))
            area = grid.dx_u[block.lo[1] : block.hi[1]] * grid.dy
            energy.append(float((square @ grid.thickness * area).sum()))
        rows = allgather(self._comm, (math.fsum(energy), speed, *self._worst))
        self._worst = _NOTHING
        courant, thinnest = max(row[2] for row in rows), min(row[3] for row in rows)
        self.sound = False  # until the end of this look
        if not all(row[4] for row in rows):
            raise FathometerError(
                f"step {state.step}: the state is not finite; allowed: a shorter step, more viscosity or diffusivity"
            )
        if thinnest <= 0:
            raise FathometerError(
                f"step {state.step}: the surface has fallen through the uppermost level by {-thinnest:.3g} m; allowed: "
                "a thicker one ([grid] levels)"
            )
        if courant > COURANT:
            allowed = self._problem.step / courant
            raise FathometerError(
                f"step {state.step}: {courant:.3g} of a cell's water leaves it along an axis in a step of "
                f"{self._problem.step:g} s; allowed: up to {allowed:.3g} s at these velocities"
            )
        self.sound = True
        volume, contents = self.volume(), self.contents()
        return {
            "kinetic_energy_joules": 0.5 * self._problem.physics.density * math.fsum(row[0] for row in rows),
            "largest_speed": max(row[1] for row in rows),
            "largest_courant": courant,
            "mean_temperature": contents[0] / volume,
            "mean_salinity": contents[1] / volume,
        }
