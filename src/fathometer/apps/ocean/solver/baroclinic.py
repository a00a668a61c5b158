"""The three-dimensional part of a step: the kernels of `native/ocean`, called with the arrays of a rank.

A step calls, in this order, with halos exchanged where a method names what it reads beyond owned cells:

    pressure, momentum, [the barotropic solve gives d], correct, fluxes, tracers, State.advance
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fathometer import _native
from fathometer.apps.ocean.solver.physics import Physics, StateEquation
from fathometer.apps.ocean.solver.state import Floats, State

if TYPE_CHECKING:
    from fathometer.apps.ocean.barotropic.block_layout import Layout
    from fathometer.apps.ocean.grid import OceanGrid

# Adams-Bashforth of first, second and third order: of this step, the one before, the one before that.
_WEIGHTS = ((1.0, 0.0, 0.0), (3 / 2, -1 / 2, 0.0), (23 / 12, -16 / 12, 5 / 12))


class Courant(NamedTuple):
    """Largest parts of a cell's water that leave it along x or y, and along z; whether all fluxes are finite."""

    lateral: float
    vertical: float
    finite: bool


class Baroclinic:
    """Momentum, volume and tracers on the blocks of a rank.

    Arrays have the shapes that `State` names; ValueError is raised for others. Kernels write owned cells only.
    """

    def __init__(self, layout: Layout, grid: OceanGrid, physics: Physics) -> None:
        self.physics = physics
        self.columns: tuple[int, int, int] = (len(layout.own), *layout.padded)
        self._kernel = _native.OceanKernel(
            extents=np.ascontiguousarray(layout.extents, np.int64),
            levels=np.ascontiguousarray(layout.blocked(grid.levels), np.int32),
            levels_u=np.ascontiguousarray(layout.blocked(grid.levels_u), np.int32),
            dx=_float(layout.rows(grid.dx)),
            dx_u=_float(layout.rows(grid.dx_u)),
            f=_float(layout.rows(grid.f)),
            tan_over_radius=_float(layout.rows(grid.tan_over_radius)),
            thickness=_float(grid.thickness),
            dy=float(grid.dy),
            curvature=_curvature(grid),
            gravity=physics.gravity,
            density=physics.density,
            viscosity=physics.viscosity,
            diffusivity=physics.diffusivity,
            vertical_viscosity=physics.vertical_viscosity,
            vertical_diffusivity=physics.vertical_diffusivity,
            convective_diffusivity=physics.convective_diffusivity,
            drag=int(physics.drag),
            drag_coefficient=physics.drag_coefficient,
            state_equation=int(physics.state_equation),
            expansion=physics.expansion,
            contraction=physics.contraction,
            reference_temperature=physics.reference_temperature,
            reference_salinity=physics.reference_salinity,
            advect_momentum=physics.advect_momentum,
        )

    def pressure(self, state: State) -> None:
        """Put the hydrostatic pressure into state.p: of owned cells and those next to them in the east and north.

        Reads tracers and eta there.
        """
        self._kernel.pressure(state.tracers, state.eta, state.p)

    def momentum(self, state: State, dt: float, theta: float, stress_x: Floats, stress_y: Floats) -> None:
        """Put provisional velocities into u_next, v_next, the transport, the first part of the shift and a tendency.

        Reads u, v and eta in one ring. stress_x, stress_y: of the wind at U points (nb, X, Y), N/m². theta: weight of
        the new time level in transports.
        """
        self._kernel.momentum(
            dt=dt,
            theta=theta,
            weights=_WEIGHTS[min(state.step, 2)],
            u=state.u,
            v=state.v,
            eta=state.eta,
            p=state.p,
            stress_x=stress_x,
            stress_y=stress_y,
            tendencies=state.tendencies,
            u_next=state.u_next,
            v_next=state.v_next,
            transport_u=state.transport[0],
            transport_v=state.transport[1],
            shift_u=state.shift[0],
            shift_v=state.shift[1],
        )

    def correct(self, state: State, dt: float, theta: float, d: Floats) -> None:
        """Make u_next, v_next and the shift final, from the change of surface height d (nb, X, Y), m.

        Reads d in one ring.
        """
        self._kernel.correct(
            dt=dt, theta=theta, d=d, u=state.u_next, v=state.v_next, shift_u=state.shift[0], shift_v=state.shift[1]
        )

    def fluxes(self, state: State, dt: float) -> None:
        """Put volume fluxes into flux_x, flux_y, and the surface height that follows from them into eta_next.

        Reads u_next, v_next, shift and eta in three rings.
        """
        self._kernel.fluxes(
            dt=dt,
            u=state.u_next,
            v=state.v_next,
            shift_u=state.shift[0],
            shift_v=state.shift[1],
            eta=state.eta,
            flux_x=state.flux_x,
            flux_y=state.flux_y,
            eta_next=state.eta_next,
        )

    def courant(self, state: State, dt: float) -> Courant:
        """The largest Courant numbers of the fluxes of this step, of owned cells."""
        return Courant(*self._kernel.courant(dt=dt, flux_x=state.flux_x, flux_y=state.flux_y, eta=state.eta))

    def surface_flux(self, state: State, given: Floats, target: Floats, rate: Floats, flux: Floats) -> None:
        """Put into `flux` what enters through the surface: given + rate dz_0 (target - tracer).

        flux, given, target: (nt, nb, X, Y), tracer times m/s, and tracer. rate: (nt,), 1/s.
        """
        self._kernel.surface_flux(state.tracers, given, target, rate, flux)

    def tracers(self, state: State, dt: float, surface_flux: Floats) -> None:
        """Put the tracers after the step into tracers_next, from fluxes and eta_next.

        Reads tracers and eta in two rings. surface_flux: (nt, nb, X, Y), tracer times m/s, into the sea.
        """
        self._kernel.tracers(
            dt=dt,
            x_first=state.step % 2 == 0,
            tracers=state.tracers,
            eta=state.eta,
            eta_next=state.eta_next,
            flux_x=state.flux_x,
            flux_y=state.flux_y,
            surface_flux=surface_flux,
            tracers_next=state.tracers_next,
        )


def density(physics: Physics, temperature: Floats, salinity: Floats, pressure: Floats) -> Floats:
    """Density in kg/m³ of potential temperature (°C), salinity and pressure (Pa), broadcast together."""
    t, s, p = np.broadcast_arrays(
        np.asarray(temperature, float), np.asarray(salinity, float), np.asarray(pressure, float)
    )
    if physics.state_equation == StateEquation.LINEAR:
        buoyancy = physics.expansion * (t - physics.reference_temperature)
        return np.asarray(physics.density * (1 - buoyancy + physics.contraction * (s - physics.reference_salinity)))
    result = np.empty(t.shape)
    _native.ocean_density(t.ravel(), s.ravel(), p.ravel(), result.reshape(-1))
    return result


def _float(values: Floats) -> Floats:
    return np.ascontiguousarray(values, np.float64)


def _curvature(grid: OceanGrid) -> float:
    """1 / radius²: a degree along y is dy / radius."""
    if not grid.spherical:
        return 0.0
    return float((np.deg2rad(grid.y[1] - grid.y[0]) / grid.dy) ** 2)
