"""The potentials: quasi-neutrality and Ampère's law, from velocity sums of g. See `FieldSolver`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fathometer.apps.plasma.solver.geometry import FluxTube
from fathometer.apps.plasma.solver.velocity import VelocityGrid

Floats = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]


class FieldSolver:
    """phi and A of some ky, on all places.

        phi (sum Z² n/T (1 - Gamma) + T_i/T_e) - (T_i/T_e) <phi> = sum Z int J0 g          <phi>: of ky = 0 alone
        A (k² + beta/2 sum Z² n/T int v² J0²)                     = beta/2 sum Z int v J0 g

    where the terms of T_e are those of adiabatic electrons. The mode with no wave number has no potentials.

    Args:
        tube, grid: of the problem. modes: the ky. adiabatic: T_i/T_e of adiabatic electrons; 0: they are kinetic.
        beta: of the electrons, 2 mu_0 n T/B²; 0: electrostatic.
        squares: [fields, ky, places]: sums over velocities of n Z²/T J0², and of n Z²/T v² J0².
    """

    def __init__(
        self, tube: FluxTube, grid: VelocityGrid, modes: slice, adiabatic: float, beta: float, squares: Floats
    ) -> None:
        self._adiabatic = adiabatic
        self._zonal = np.flatnonzero(tube.modes.ky[modes] == 0)
        self._shape = (tube.points, tube.modes.waves)
        self._mean = tube.weight[:, None]
        k_perp = tube.k_perp[modes].reshape(squares.shape[1:])
        there = k_perp > 0
        charges = sum(one.charge**2 * one.density / one.temperature for one in grid.species)
        self._phi = _inverse(charges + adiabatic - squares[0], there)
        if len(squares) > 1:
            self._a = _inverse(k_perp**2 + 0.5 * beta * squares[1], there) * 0.5 * beta

    def solve(self, sums: Complex) -> Complex:
        """[fields, ky, places], of the velocity sums."""
        found = np.empty_like(sums)
        found[0] = sums[0] * self._phi
        if self._adiabatic:
            for number in self._zonal:
                phi = found[0, number].reshape(self._shape)
                inverse = self._phi[number].reshape(self._shape)
                share = 1 - self._adiabatic * np.sum(self._mean * inverse, axis=0)
                mean = np.sum(self._mean * phi, axis=0) / np.where(inverse.any(axis=0), share, 1.0)
                phi += self._adiabatic * mean * inverse
        if len(sums) > 1:
            found[1] = sums[1] * self._a
        return found


def _inverse(values: Floats, there: npt.NDArray[np.bool_]) -> Floats:
    return np.where(there, 1 / np.where(there, values, 1.0), 0.0)
