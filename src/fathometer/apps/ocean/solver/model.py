"""The ocean model: a time step of all blocks of a rank.

pressure, momentum          provisional velocities
transport halo, divergence  the right-hand side of the surface's change
barotropic solve            the change, which corrects the velocities
velocity halo               three cells wide
fluxes, tracers             the surface follows the fluxes
tracer halo
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.ocean.barotropic.block_layout import HALO, Layout
from fathometer.apps.ocean.barotropic.halo import BlockHalo
from fathometer.apps.ocean.barotropic.solver import BarotropicSolver
from fathometer.apps.ocean.solver.baroclinic import Baroclinic
from fathometer.apps.ocean.solver.problem import TRACERS, Problem
from fathometer.apps.ocean.solver.state import Floats, State
from fathometer.apps.ocean.solver.watch import Watch
from fathometer.base import ledger
from fathometer.base.errors import FathometerError

if TYPE_CHECKING:
    from mpi4py import MPI

TRACER_WIDTH = 2  # cells that a step reads beyond its own


@dataclass(frozen=True)
class Step:
    """What a step took. time: after it, s. iterations, reductions, halos: of the barotropic solver. gained: content of
    each tracer that came through the surface of this rank's blocks, its unit x m³."""

    time: float
    iterations: int
    reductions: int
    halos: int
    gained: tuple[float, ...]


class OceanModel:
    """The state of a rank's blocks, and its steps; all methods are collective.

    Args:
        keys: of the barotropic solver, see BarotropicSolver.

    Attributes:
        state: the arrays.
    """

    def __init__(self, problem: Problem, layout: Layout, comm: MPI.Intracomm, **keys: Any) -> None:
        self.problem, self.layout, self.comm = problem, layout, comm
        grid = problem.grid
        self._kernels = Baroclinic(layout, grid, problem.physics)
        self.state = State.at_rest(self._kernels.columns, grid.shape[2], len(problem.tracers))
        self.solver = BarotropicSolver(layout, comm, grid, **keys)
        wind = problem.wind or (np.zeros(layout.shape), np.zeros(layout.shape))
        wet = grid.levels_u > 0
        self._stress = tuple(layout.blocked(np.asarray(stress, float) * wet) for stress in wind)
        self._rate = np.array([surface.rate for surface in problem.surface])
        self._given, self._target = (np.zeros((len(problem.surface), *self._kernels.columns)) for _ in range(2))
        for number, surface in enumerate(problem.surface):
            for into, values in ((self._given, surface.flux), (self._target, surface.target)):
                if values is not None:
                    into[number] = layout.blocked(np.asarray(values, float))
        self._surface_flux = np.zeros_like(self._given)
        self._change = np.zeros(self._kernels.columns)
        self._right = np.zeros(self._kernels.columns)
        self._wet = layout.blocked(grid.levels) > 0
        self._dx_u, self._area = layout.rows(grid.dx_u), layout.rows(grid.area)
        self._halos = self._make_halos()
        self._restored = 0  # steps of earlier runs
        self._turn = 0  # of arrays that change places
        self._watch = Watch(problem, layout, comm, self._kernels, self.state)

    def _make_halos(self) -> dict[str, list[BlockHalo]]:
        """Exchanges by name; of arrays that change places after each step, for even and odd ones."""
        state, layout, comm = self.state, self.layout, self.comm

        def of(*fields: tuple[Floats, int]) -> BlockHalo:
            return BlockHalo(layout, comm, fields, name="baroclinic halo")

        transport = [(state.transport[n], 1) for n in (0, 1)]
        shift = [(state.shift[n], HALO) for n in (0, 1)]
        velocities = ((state.u_next, state.v_next), (state.u, state.v))
        surfaces = ((state.tracers_next, state.eta_next), (state.tracers, state.eta))
        return {
            "transport": [of(*transport)],
            "change": [of((self._change, 1))],
            "velocity": [of((u, HALO), (v, HALO), *shift) for u, v in velocities],
            "tracers": [of(*((t, TRACER_WIDTH) for t in tracers), (eta, HALO)) for tracers, eta in surfaces],
        }

    def _exchange(self, name: str, next_ones: bool = True) -> None:
        halos = self._halos[name]
        halos[(self._turn + (not next_ones)) % len(halos)].exchange()

    def begin(self) -> None:
        """The state at the beginning."""
        problem, layout, state = self.problem, self.layout, self.state
        grid = problem.grid
        for number, block in enumerate(layout.own):
            box = block.lo, block.hi
            part = tuple(slice(a, b) for a, b in zip(*box, strict=True))
            level = np.arange(grid.shape[2])
            wet, wet_u = (level < levels[part][..., None] for levels in (grid.levels, grid.levels_u))
            for tracer, values in zip(state.tracers, problem.tracers, strict=True):
                layout.owned(tracer, number)[...] = np.where(wet, values(*box), 0.0)
            if problem.velocity is not None:
                for velocity, values in zip((state.u, state.v), problem.velocity, strict=True):
                    layout.owned(velocity, number)[...] = np.where(wet_u, values(*box), 0.0)
            if problem.height is not None:
                layout.owned(state.eta, number)[...] = np.where(grid.levels[part] > 0, problem.height[part], 0.0)
        self._fill_halos()

    def _fill_halos(self) -> None:
        self._exchange("velocity", next_ones=False)
        self._exchange("tracers", next_ones=False)

    def arrays(self) -> dict[str, Floats]:
        """The arrays of the state by name, from which it goes on with the same bits."""
        state = self.state
        found = {"eta": state.eta, "u": state.u, "v": state.v}
        found |= {f"tracer_{n}": tracer for n, tracer in enumerate(state.tracers)}
        for back, pair in enumerate(state.tendencies[1:], 1):
            found |= {f"tendency_u_{back}": pair[0], f"tendency_v_{back}": pair[1]}
        return found | {"change": self._change}  # at which the next solve begins

    def restore(self, steps: int) -> None:
        """Go on after so many steps, from what has been put into `arrays`."""
        self.state.step = self._restored = steps
        self._fill_halos()

    def fields(self) -> dict[str, Floats]:
        """What fields are made of, by name: tracers, u, v, eta, and w, the vertical velocity (m/s) at the upper faces
        of the levels, of the last step; NaN where that was in an earlier run."""
        state = self.state
        out = state.flux_x + state.flux_y
        out[:, 1:] -= state.flux_x[:, :-1]
        out[:, :, 1:] -= state.flux_y[:, :, :-1]
        upward = -np.cumsum(out[..., ::-1], -1)[..., ::-1]
        if state.step > 0 and state.step == self._restored:
            upward = np.full_like(out, np.nan)
        return {
            **dict(zip(TRACERS, state.tracers, strict=False)),
            "u": state.u,
            "v": state.v,
            "eta": state.eta,
            "w": upward / self._area[:, None, :, None],
        }

    def step(self) -> Step:
        """Take a step.

        Raises FathometerError where the barotropic solver does not converge; the state stays as it was then. Where that
        one has come apart since the last look, the error says how.
        """
        problem, state, kernels = self.problem, self.state, self._kernels
        dt, theta, gravity = problem.step, problem.implicitness, problem.physics.gravity
        with ledger.phase("baroclinic"):
            kernels.pressure(state)
            kernels.momentum(state, dt, theta, *self._stress)
        with ledger.phase("barotropic"):
            self._exchange("transport")
            self.solver.coefficients(state.eta, dt, theta, gravity)
            self._divergence(dt)
            solve = self.solver.solve(self._right, self._change)
            self._exchange("change")
        if not solve.converged:
            with np.errstate(over="ignore", invalid="ignore"):
                self.diagnostics()
            raise FathometerError(
                f"step {state.step + 1}: the barotropic solver has not converged in {solve.iterations} iterations "
                f"(residual {solve.residual:.2g}); allowed: more of them, a larger tolerance, a shorter step"
            )
        with ledger.phase("baroclinic"):
            kernels.correct(state, dt, theta, self._change)
            self._exchange("velocity")
            kernels.fluxes(state, dt)
            self._watch.note_step()
            kernels.surface_flux(state, self._given, self._target, self._rate, self._surface_flux)
            gained = self._gained(dt)
            kernels.tracers(state, dt, self._surface_flux)
            self._exchange("tracers")
            state.advance()
            self._turn ^= 1
        return Step(state.step * dt, solve.iterations, solve.reductions, solve.halos, gained)

    def _divergence(self, dt: float) -> None:
        """The right-hand side: -dt times what the transport takes out of each cell, m³."""
        u, v = self.state.transport
        dx, dy = self._dx_u, 0.5 * self.problem.grid.dy
        east, north = np.zeros_like(u), np.zeros_like(v)
        east[:, :, 1:] = dy * (u[:, :, 1:] + u[:, :, :-1])
        north[:, 1:] = 0.5 * dx[:, None, :] * (v[:, 1:] + v[:, :-1])
        right = self._right
        right[:, 1:, 1:] = -dt * ((east[:, 1:, 1:] - east[:, :-1, 1:]) + (north[:, 1:, 1:] - north[:, 1:, :-1]))
        right[~self._wet] = 0.0

    def _gained(self, dt: float) -> tuple[float, ...]:
        """Of this rank's blocks."""
        found = []
        for flux in self._surface_flux:
            parts = [
                (self.layout.owned(flux, number) * self.problem.grid.area[block.lo[1] : block.hi[1]]).sum()
                for number, block in enumerate(self.layout.own)
            ]
            found.append(dt * math.fsum(parts))
        return tuple(found)

    def contents(self) -> list[float]:
        """Content of each tracer in the whole ocean, its unit x m³."""
        return self._watch.contents()

    def volume(self) -> float:
        """Of the whole ocean, m³."""
        return self._watch.volume()

    def diagnostics(self) -> dict[str, float]:
        """What a row of the time series has; FathometerError where the state has come apart: see Watch.look."""
        return self._watch.look()

    @property
    def sound(self) -> bool:
        """Whether no look has found anything wrong."""
        return self._watch.sound

    def close(self) -> None:
        """Free the halo exchanges."""
        for halos in self._halos.values():
            for halo in halos:
                halo.close()
        self.solver.close()
