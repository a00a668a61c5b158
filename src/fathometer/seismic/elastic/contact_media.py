"""The medium next to a sea floor: each point has that of its own side, the floor's own points what both weigh there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.elastic.attenuation import MECHANISMS, Attenuation
from fathometer.seismic.elastic.contact import SeaFloor
from fathometer.seismic.elastic.contact_closure import ROCK, WATER, closure
from fathometer.seismic.elastic.fields import SHEAR, VELOCITIES, of_dimension
from fathometer.seismic.elastic.medium import Medium
from fathometer.seismic.elastic.moduli import p_modulus

_AROUND = 2  # rows on either side whose means could hold the other medium


Row = int | np.ndarray  # of all columns of a block, or (nx, ny) of each


class Sides(ABC):
    """Values of each side at rows of a block; beyond the floor they go on as they are next to it.

    arrays: vp, vs, density, and qp, qs with attenuation, on the block's cells and one more on each side (in two
    dimensions not along y), of whole columns.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], attenuation: Attenuation | None, grid: Grid) -> None:
        self.arrays, self.attenuation, self.flat = arrays, attenuation, grid.two_dimensional

    def of(self, name: str, side: int, row: Row, shift: tuple[int, int] = (0, 0), stiffest: bool = False) -> np.ndarray:
        """density, mu or p (lambda + 2 mu), (nx, ny) float64, in a row of the columns `shift` further.

        stiffest: in media that attenuate the unrelaxed modulus of the stiffest mechanism; else the elastic one."""
        at = self._at(side, row, shift)
        density = self.arrays["density"][at]
        if name == "density":
            return np.asarray(density, np.float64)
        wave, fit = "p" if name == "p" else "s", self.attenuation if stiffest else None
        quality = self.arrays[f"q{wave}"][at] if fit is not None else None
        return p_modulus(self.arrays[f"v{wave}"][at], density, quality, fit)

    def of_mechanisms(self, wave: str, side: int, row: Row, lo: Index3) -> tuple[np.ndarray, np.ndarray]:
        """Of each cell's mechanism: its unrelaxed modulus of P or S waves over the elastic one, and how much it relaxes
        that. lo: first cell of the block."""
        assert self.attenuation is not None
        quality = self.arrays[f"q{wave}"][self._at(side, row, (0, 0))]
        if wave == "s" and side == WATER:
            quality = np.full_like(quality, np.inf)
        nx, ny = quality.shape
        mechanism = (sum(lo) + row + np.arange(nx)[:, None] + np.arange(ny)) % MECHANISMS
        return self.attenuation.of_cells(quality, mechanism)

    @abstractmethod
    def _at(self, side: int, row: Row, shift: tuple[int, int]) -> Any:
        """Indices into the arrays."""


class PlaneSides(Sides):
    """Next to a floor that is a plane."""

    def __init__(
        self, arrays: Mapping[str, np.ndarray], attenuation: Attenuation | None, floor: SeaFloor, grid: Grid
    ) -> None:
        super().__init__(arrays, attenuation, grid)
        self.floor = floor

    def _at(self, side: int, row: Row, shift: tuple[int, int]) -> tuple[slice, slice, int]:
        assert isinstance(row, int)
        row = min(row, self.floor.water) if side == WATER else max(row, self.floor.rock)
        nx, ny = self.arrays["vp"].shape[:2]
        x, y = (slice(1 + step, n - 1 + step) for step, n in zip(shift, (nx, ny), strict=True))
        return x, slice(None) if self.flat else y, row + 1


BESIDE = {"x": (1, 0), "y": (0, 1), "z": (0, 0)}  # the column that a point lies half way to


def set_contact(medium: Medium, sides: PlaneSides, lo: Index3, dt: float) -> None:
    """Replace a block's values around the floor, in place. lo: first cell of the block; dt: time step, s."""
    floor, flat = sides.floor, sides.flat
    for row in range(floor.last - _AROUND, floor.last + _AROUND + 2):
        side = WATER if row <= floor.last else ROCK
        p, mu = sides.of("p", side, row), sides.of("mu", side, row)  # mu of water: 0
        hard: np.ndarray | float = 1.0
        if medium.relaxation is not None:
            hard_p, medium.relaxation.defect_p[:, :, row] = sides.of_mechanisms("p", side, row, lo)
            hard, medium.relaxation.defect_s[:, :, row] = sides.of_mechanisms("s", side, row, lo)
            p, mu = p * hard_p, mu * hard
        medium.p_modulus[:, :, row], medium.lame[:, :, row] = dt * p, dt * (p - 2 * mu)
        for axis in of_dimension(VELOCITIES, flat)[:-1]:
            beside = sides.of("density", side, row, BESIDE[axis[1]])
            medium.buoyancy[axis][:, :, row] = 2 * dt / (sides.of("density", side, row) + beside)
        medium.buoyancy["vz"][:, :, row] = dt / _inertia(sides, row)
        for name in of_dimension(SHEAR, flat):
            shear = shear_of_rock(sides, name, row) if row > floor.last else 0.0  # none in the water and in the floor
            medium.shear[name][:, :, row] = dt * hard * shear


def _inertia(sides: PlaneSides, row: int) -> np.ndarray:
    """Density at the half point below a row of nodes; in the floor what both sides weigh there."""
    floor = sides.floor
    if row == floor.last:
        water = float(closure(WATER, floor.part).half_points[0])
        rock = float(closure(ROCK, 1 - floor.part).half_points[0])
        return water * sides.of("density", WATER, row) + rock * sides.of("density", ROCK, row + 1)
    side = WATER if row < floor.last else ROCK
    return np.asarray((sides.of("density", side, row) + sides.of("density", side, row + 1)) / 2)


def shear_of_rock(sides: Sides, name: str, row: Row) -> np.ndarray:
    """mu (nx, ny) at the points of a shear stress in a row: the harmonic mean of four nodes of rock."""
    first, second = BESIDE[name[1]], BESIDE[name[2]]
    corner = (first[0] + second[0], first[1] + second[1])
    below = row + (name[2] == "z")
    four = [(row, (0, 0)), (row, first), (below, second), (below, corner)]
    compliances = [1 / sides.of("mu", ROCK, at, shift) for at, shift in four]
    return np.asarray(4 / np.sum(compliances, axis=0))
