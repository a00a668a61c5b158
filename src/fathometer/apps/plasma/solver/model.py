"""The plasma on a rank: fields, rates of change, steps in time, and what is seen of it.

    dg/dt = -(v_t v xi/q) dh/dtheta + (v_t v/q) (1 - xi²)/2 (d ln B/dtheta) dh/dxi - i omega_D h
            - i ky [R/L_n + (v²/2 - 3/2) R/L_T] chi - {chi, h} + C(h) - damping
    chi = J0(k v_perp / (B Omega)) (phi - v_par A),   g = h - (Z/T) chi

(Frieman & Chen 1982, Phys. Fluids 25, 502; Candy & Waltz 2003, J. Comput. Phys. 186, 545.) Lengths along the field in
R, across it in rho_i, time in R/v_i; g, h and Z phi/T in rho_i/R. Sums over ranks are made in the layout where their
terms lie on one rank, so that the same bits come on any ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import j0 as bessel

from fathometer import _native
from fathometer.apps.plasma.solver.bracket import Bracket
from fathometer.apps.plasma.solver.fields import FieldSolver
from fathometer.apps.plasma.solver.geometry import FluxTube
from fathometer.apps.plasma.solver.layout import Layouts, share_of
from fathometer.apps.plasma.solver.velocity import VelocityGrid
from fathometer.base import ledger
from fathometer.parallel.collectives import allreduce

if TYPE_CHECKING:
    from mpi4py import MPI

Floats = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Plasma:
    """What is solved.

    Attributes:
        tube: the flux tube. grid: the velocities. adiabatic: T_i/T_e of adiabatic electrons; 0: they are kinetic.
        beta: 2 mu_0 n T/B²; 0: electrostatic. nonlinear: whether modes of the box act on each other.
        damping: rate at which the shortest waves across the field are damped, v_i/R; it goes with the fourth power of
            the wave number.
    """

    tube: FluxTube
    grid: VelocityGrid
    adiabatic: float = 1.0
    beta: float = 0.0
    nonlinear: bool = False
    damping: float = 0.0

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """ky, velocities, theta, kx."""
        return len(self.tube.modes.ky), self.grid.count, self.tube.points, self.tube.modes.waves

    @property
    def fields(self) -> int:
        """1: phi; 2: phi and A."""
        return 2 if self.beta else 1

    def drives(self) -> Floats:
        """[ky, velocity]: ky (R/L_n + (v²/2 - 3/2) R/L_T)."""
        grid = self.grid
        density = grid.of_species([one.density_gradient for one in grid.species])
        temperature = grid.of_species([one.temperature_gradient for one in grid.species])
        return np.asarray(self.tube.modes.ky[:, None] * (density + (grid.v**2 / 2 - 1.5) * temperature))

    def curvature(self) -> Floats:
        """By velocity: (T/Z) v² (1 + xi²)/2."""
        grid = self.grid
        return np.asarray(grid.temperature / grid.charge * grid.v**2 * (1 + grid.xi**2) / 2)

    def damped(self) -> Floats:
        """[ky, theta, kx]: the rate of damping."""
        if not self.damping:
            return np.zeros_like(self.tube.drift)
        modes = self.tube.modes
        most_x, most_y = max(np.abs(modes.kx).max(), 1e-300), max(modes.ky.max(), 1e-300)
        size = (modes.kx / most_x) ** 2 + (modes.ky[:, None] / most_y) ** 2
        return np.ascontiguousarray(np.broadcast_to((self.damping * size**2)[:, None, :], self.tube.drift.shape))

    def gyro(self, modes: slice, velocities: slice, places: slice) -> Floats:
        """[ky, velocity, place]: J0 of these."""
        grid, tube = self.grid, self.tube
        mass = grid.of_species([one.mass for one in grid.species])
        across = grid.thermal * grid.v * np.sqrt(1 - grid.xi**2) * mass / np.abs(grid.charge)
        k = (tube.k_perp[modes] / tube.field[:, None]).reshape(-1, tube.points * tube.modes.waves)[:, places]
        return np.asarray(bessel(across[None, velocities, None] * k[:, None, :]))


class Sums:
    """Quadratic sums over the box: means over the flux tube, both signs of ky together.

    Args:
        fields: [fields, ky, theta, kx]. lines: [ky, velocity, sums] as of `sum_lines`. collisions: [ky, places] as of
            `sum_collisions`.
    """

    def __init__(self, plasma: Plasma, fields: Complex, lines: Floats, collisions: Floats) -> None:
        self.plasma, self.fields = plasma, fields
        tube, grid = plasma.tube, plasma.grid
        # What is left out at -ky is as much as at ky.
        self._both = np.where(tube.modes.ky > 0, 2.0, 1.0) if tube.modes.box else np.ones(len(tube.modes.ky))
        total = np.sum(1 / tube.field)
        self._lines = lines / total
        energy = grid.weight * grid.temperature
        self.h_energy = 0.5 * self._over(np.sum(self._lines[:, :, 0] * energy, axis=1))
        self.upwind = self._over(np.sum(self._lines[:, :, 2] * energy, axis=1))
        self.damping = self._over(np.sum(self._lines[:, :, 3] * energy, axis=1))
        self.drive = self._over(np.sum(self._lines[:, :, 1] * plasma.drives() * energy, axis=1))
        places = collisions.reshape(fields.shape[1:])
        self.collisions = self._over(np.sum(places * tube.weight[:, None], axis=(1, 2)))

    def _over(self, by_mode: Floats) -> float:
        return float(np.sum(self._both * by_mode))

    def _mean(self, values: Floats) -> Floats:
        """By ky, of squares [ky, theta, kx]."""
        return np.asarray(np.sum(values * self.plasma.tube.weight[:, None], axis=(1, 2)))

    @property
    def phi_squared(self) -> Floats:
        """[ky]: mean of |phi|² over the flux tube, both signs of ky together."""
        return np.asarray(self._both * self._mean(np.abs(self.fields[0]) ** 2))

    @property
    def free_energy(self) -> float:
        """What linear terms but for drives, dissipation and collisions keep, and the bracket too."""
        plasma, phi = self.plasma, self.fields[0]
        charges = sum(one.charge**2 * one.density / one.temperature for one in plasma.grid.species)
        by_mode = charges * self._mean(np.abs(phi) ** 2)
        if plasma.adiabatic:
            mean = np.sum(phi * plasma.tube.weight[:, None], axis=1, keepdims=True)
            zonal = (plasma.tube.modes.ky == 0)[:, None, None]
            by_mode = by_mode + plasma.adiabatic * self._mean(np.abs(phi - np.where(zonal, mean, 0)) ** 2)
        if plasma.beta:
            by_mode = by_mode - 2 / plasma.beta * self._mean(plasma.tube.k_perp**2 * np.abs(self.fields[1]) ** 2)
        return self.h_energy - 0.5 * self._over(by_mode)

    def flux(self, species: int, moment: str) -> Floats:
        """[ky]: flux of particles or of energy of a species across the field, both signs of ky together.

        In n v_i (rho_i/R)², and times T_i.
        """
        grid, ky = self.plasma.grid, self.plasma.tube.modes.ky
        each = grid.energies * grid.cosines
        own = slice(species * each, (species + 1) * each)
        weight = grid.weight[own] * grid.temperature[own]
        if moment == "energy":
            weight = weight * grid.v[own] ** 2 / 2 * grid.temperature[own]
        carried = self._both * ky * np.sum(self._lines[:, own, 1] * weight, axis=1)
        return np.asarray(carried / self.plasma.grid.species[species].temperature)


def flat(array: Complex) -> Floats:
    """The numbers of an array in C order, as doubles; a view."""
    return array.reshape(-1).view(np.float64)


class PlasmaModel:
    """The plasma on a rank.

    Args:
        plasma: what is solved. ranks: P1, P2, as many as `comm` has. method, overlap: of the transposes, see Layouts.
        workers: threads.

    Attributes:
        g: [own ky, own velocities, theta, kx]. fields: [phi, A; own ky, places] of the last `rates`.
    """

    def __init__(
        self,
        plasma: Plasma,
        ranks: tuple[int, int],
        comm: MPI.Intracomm,
        method: str = "alltoallw",
        overlap: bool = False,
        workers: int = 1,
    ) -> None:
        self.plasma, self.comm = plasma, comm
        self.share = share = share_of(plasma.sizes, ranks, comm.rank)
        self.layouts = Layouts(share, comm, method, overlap, plasma.nonlinear, plasma.fields)
        self._overlap = overlap
        own, grid, tube = share.own_modes, plasma.grid, plasma.tube
        self.g = np.zeros(self.layouts.lines, np.complex128)
        self._j0_velocities = plasma.gyro(own, slice(None), share.own_places)
        self._j0 = self._j0_velocities
        if ranks[0] > 1:
            self._j0 = plasma.gyro(own, share.own_velocities, slice(None))
        self._j0 = self._j0.reshape(self.layouts.lines)
        self._lines = self._lines_kernel()
        self._velocities = self._velocities_kernel()
        squares = self.layouts.gather_places(self._squares().astype(np.complex128)).real
        self._solver = FieldSolver(tube, grid, own, plasma.adiabatic, plasma.beta, squares)
        self._bracket: Bracket | None = None
        if plasma.nonlinear:
            self._j0_modes = self._gyro_of_rows(ranks)
            speed = np.ascontiguousarray(grid.parallel[share.own_velocities])
            self._bracket = Bracket(tube.modes, tube.points, speed, share.own_rows.start, workers)
            self._change = np.empty(self.layouts.lines, np.complex128)
        self.fields = np.zeros((plasma.fields, *self._j0_velocities.shape[:1], share.places), np.complex128)
        self.flow_rate = 0.0  # this rank's, of the last `rates`: see Bracket.apply

    def close(self) -> None:
        """Collective. Free what MPI keeps, and end threads."""
        self.layouts.close()
        if self._bracket is not None:
            self._bracket.close()

    def _lines_kernel(self) -> _native.PlasmaLines:
        plasma, own, velocities = self.plasma, self.share.own_modes, self.share.own_velocities
        tube, grid = plasma.tube, plasma.grid
        q = tube.geometry.q
        stream = grid.parallel / q / tube.spacing
        upwind = grid.of_species([one.upwind for one in grid.species])
        return _native.PlasmaLines(
            shift=np.ascontiguousarray(tube.modes.shift[own], np.int64),
            root=np.sqrt(tube.field),
            drift=np.ascontiguousarray(tube.drift[own]),
            damping=np.ascontiguousarray(plasma.damped()[own]),
            stream=np.ascontiguousarray(stream[velocities]),
            upwind=np.ascontiguousarray((np.abs(stream) * upwind)[velocities]),
            curvature=np.ascontiguousarray(plasma.curvature()[velocities]),
            drive=np.ascontiguousarray(plasma.drives()[own, velocities]),
            charge=np.ascontiguousarray((grid.charge / grid.temperature)[velocities]),
            speed=np.ascontiguousarray(grid.parallel[velocities]),
        )

    def _velocities_kernel(self) -> _native.PlasmaVelocities:
        _plasma, grid, tube = self.plasma, self.plasma.grid, self.plasma.tube
        gradient = np.zeros(tube.points) if tube.geometry.slab else tube.gradient
        nu = grid.frequencies
        each = slice(None, None, grid.cosines)
        return _native.PlasmaVelocities(
            modes=self.layouts.lines[0],
            mirror=grid.mirror,
            scattering=grid.scattering,
            mirror_speed=np.ascontiguousarray((grid.thermal * grid.v / tube.geometry.q)[each]),
            nu=np.ascontiguousarray(nu.reshape(-1)) if nu.any() else None,
            gradient=np.ascontiguousarray(np.repeat(gradient, tube.modes.waves)[self.share.own_places]),
            charge=grid.charge / grid.temperature,
            speed=grid.parallel,
            weight=grid.charge * grid.weight,
        )

    def _squares(self) -> Floats:
        """[fields, own ky, own places]: sums over velocities of n Z²/T J0², and of n Z²/T v² J0²."""
        grid = self.plasma.grid
        weight = grid.weight * grid.charge**2 / grid.temperature
        found = np.zeros((self.plasma.fields, *self._j0_velocities.shape[::2]))
        for v in range(grid.count):
            square = weight[v] * self._j0_velocities[:, v] ** 2
            found[0] += square
            if len(found) > 1:
                found[1] += grid.parallel[v] ** 2 * square
        return found

    def _gyro_of_rows(self, ranks: tuple[int, int]) -> Floats:
        share, waves = self.share, self.share.waves
        if ranks[1] == 1:
            return self._j0.reshape(self.layouts.modes.far)
        whole = self.plasma.gyro(slice(None), share.own_velocities, slice(None))
        return np.ascontiguousarray(whole.reshape(share.modes, -1, waves)[:, share.own_rows])

    def rates(self, g: Complex, rate: Complex, bracket: bool = True) -> None:
        """Collective. rate = dg/dt, [own ky, own velocities, theta, kx]; bracket: False: without it."""
        layouts, nonlinear = self.layouts, bracket and self._bracket is not None
        rows = layouts.modes.begin_out(g) if nonlinear else None
        self._solve(g)
        with ledger.phase("velocities"):
            result = layouts.velocities.result(rate)
            phi, a = self._at(self.share.own_places)
            self._velocities.rates(
                g=self._far.view(np.float64), j0=self._j0_velocities, phi=phi, a=a, rate=result.view(np.float64)
            )
        layouts.velocities.begin_back(rate)
        change = None
        if nonlinear:
            assert self._bracket is not None
            assert rows is not None
            everywhere = layouts.gather_modes(self.fields)
            layouts.modes.finish()
            with ledger.phase("bracket"):
                change = self._change
                self.flow_rate = self._bracket.apply(
                    rows,
                    self._j0_modes,
                    everywhere.reshape(len(everywhere), self.share.modes, self.share.points, self.share.waves),
                    layouts.modes.result(change),
                    layouts.velocities.progress,
                )
            layouts.velocities.finish()
            layouts.modes.begin_back(change)
        else:
            layouts.velocities.finish()
        late = self._overlap and layouts.modes.moves and nonlinear
        with ledger.phase("field lines"):
            phi, a = self._on_lines()
            self._lines.rates(
                g=g.view(np.float64),
                j0=self._j0,
                phi=phi,
                a=a,
                bracket=None if late or change is None else change.view(np.float64),
                rate=rate.view(np.float64),
            )
        if late:
            layouts.modes.finish()
            with ledger.phase("update"):
                _native.plasma_add(
                    before=flat(rate),
                    rate=flat(self._change),
                    step=-1.0,
                    after=flat(rate),
                    start=None,
                    part=0.0,
                    sum=None,
                )

    def _solve(self, g: Complex) -> None:
        """Collective. Fields of g, which is left in the layout of velocities."""
        turn = self.layouts.velocities
        self._far = turn.begin_out(g)
        turn.finish()
        with ledger.phase("fields"):
            shape = (self.plasma.fields, self._far.shape[0], self._far.shape[2])
            sums = np.empty(shape, np.complex128)
            self._velocities.fields(g=self._far.view(np.float64), j0=self._j0_velocities, result=sums.view(np.float64))
            whole = self.layouts.gather_places(sums)
            self.fields = self._solver.solve(whole)

    def _at(self, places: slice) -> tuple[Floats, Floats | None]:
        found = [np.ascontiguousarray(one[:, places]).view(np.float64) for one in self.fields]
        return found[0], found[1] if len(found) > 1 else None

    def _on_lines(self) -> tuple[Floats, Floats | None]:
        modes, _, points, waves = self.layouts.lines
        found = [one.reshape(modes, points, waves).view(np.float64) for one in self.fields]
        return found[0], found[1] if len(found) > 1 else None

    def all_fields(self) -> Complex:
        """Collective. [fields, ky, theta, kx] of g as it is."""
        self._solve(self.g)
        modes, _, points, waves = self.plasma.sizes[0], 0, self.share.points, self.share.waves
        return self.layouts.gather_modes(self.fields).reshape(-1, modes, points, waves)

    def sums(self) -> Sums:
        """Collective. Quadratic sums of g as it is; the same on all ranks."""
        plasma, grid = self.plasma, self.plasma.grid
        fields = self.all_fields()
        with ledger.phase("diagnostics"):
            own = np.empty((*self.layouts.lines[:2], _native.PLASMA_LINE_SUMS))
            phi, a = self._on_lines()
            self._lines.sums(g=self.g.view(np.float64), j0=self._j0, phi=phi, a=a, result=own)
            each = self.layouts.gather_lines(own)
            phi, a = self._at(self.share.own_places)
            scattered = np.empty(self._far.shape[::2])
            energy = grid.weight * grid.temperature
            self._velocities.collisions(
                g=self._far.view(np.float64), j0=self._j0_velocities, phi=phi, a=a, energy=energy, result=scattered
            )
            whole = self.layouts.gather_places(
                np.broadcast_to(scattered, (plasma.fields, *scattered.shape)).astype(np.complex128)
            )
            collisions = self.layouts.gather_modes(whole)[0].real
        return Sums(plasma, fields, each, collisions)

    def largest_flow_rate(self) -> float:
        """Collective. Of all ranks, of the last `rates`."""
        return float(allreduce(self.comm, self.flow_rate, "MAX")) if self._bracket is not None else 0.0
