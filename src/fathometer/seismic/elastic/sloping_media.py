"""The medium next to a sea floor that slopes: each point has that of its own side of the floor in its own column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.contact_closure import ROCK, WATER
from fathometer.seismic.elastic.contact_media import BESIDE, Row, Sides, shear_of_rock
from fathometer.seismic.elastic.fields import BY_NAME, SHEAR, VELOCITIES, of_dimension
from fathometer.seismic.elastic.medium import Medium
from fathometer.seismic.elastic.sloping_floor import SlopingFloor

_AROUND = 4  # rows on either side whose means could hold the other medium


class SlopingSides(Sides):
    """Values of each side at rows (nx, ny) of a block's columns; beyond the floor they go on as they are next to it.

    arrays: as of Sides. lo: first cell of the block.
    """

    def __init__(
        self,
        arrays: Mapping[str, np.ndarray],
        attenuation: Attenuation | None,
        floor: SlopingFloor,
        grid: Grid,
        lo: Index3,
    ) -> None:
        super().__init__(arrays, attenuation, grid)
        self.floor, self.lo = floor, lo
        nx, ny = self.arrays["vp"].shape[:2]
        self.shape = nx - 2, ny if self.flat else ny - 2

    def rows(self, name: str) -> np.ndarray:
        """(nx, ny): the last row above the floor of points of a field in each column."""
        i, j = self._columns((0, 0))
        return self.floor.columns_of(BY_NAME[name].offset[:2], i, j)[0]

    def _columns(self, shift: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        return np.meshgrid(
            *(start + step + np.arange(n) for start, step, n in zip(self.lo, shift, self.shape, strict=False)),
            indexing="ij",
        )

    def _at(self, side: int, row: Row, shift: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        i, j = self._columns(shift)
        nx, ny = self.floor.depths.shape
        place = np.clip(i, 0, nx - 1), np.clip(j, 0, ny - 1)
        floor = self.floor
        known = np.minimum(row, floor.water[place]) if side == WATER else np.maximum(row, floor.rock[place])
        return i - self.lo[0] + 1, j - self.lo[1] + (0 if self.flat else 1), known + 1


def set_sloping_contact(medium: Medium, sides: SlopingSides, dt: float) -> Medium:
    """The medium with a block's values around the floor, which are replaced in place. dt: time step, s."""
    own = tuple(np.indices(sides.shape))
    nodes = sides.rows("sxx")
    hardness = np.ones((*sides.shape, 2 * _AROUND + 1))
    for step in range(-_AROUND, _AROUND + 1):
        row, side = nodes + step, WATER if step <= 0 else ROCK
        at = (*own, row)
        p, mu = sides.of("p", side, row), sides.of("mu", side, row)  # mu of water: 0
        if medium.relaxation is not None:
            hard_p, medium.relaxation.defect_p[at] = sides.of_mechanisms("p", side, row, sides.lo)
            hard_s, medium.relaxation.defect_s[at] = sides.of_mechanisms("s", side, row, sides.lo)
            p, mu = p * hard_p, mu * hard_s
            hardness[..., step + _AROUND] = hard_s if side == ROCK else 1.0
        medium.p_modulus[at], medium.lame[at] = dt * p, dt * (p - 2 * mu)
    for name in of_dimension(VELOCITIES, sides.flat):
        half = name == "vz"
        first = sides.rows(name)
        for step in range(-_AROUND, _AROUND + 1):
            row, side = first + step, ROCK if step + half > 0 else WATER
            beside = sides.of("density", side, row + half, BESIDE[name[1]])
            medium.buoyancy[name][(*own, row)] = 2 * dt / (sides.of("density", side, row) + beside)
    for name in of_dimension(SHEAR, sides.flat):
        half = "z" in name
        first = sides.rows(name)
        for step in range(-_AROUND + 1, _AROUND):
            row = first + step
            mu = shear_of_rock(sides, name, row) if step + half > 0 else np.zeros(sides.shape)
            number = np.clip(row - nodes + _AROUND, 0, 2 * _AROUND)  # the relaxation is that of the node
            hard = np.take_along_axis(hardness, number[..., None], 2)[..., 0]
            medium.shear[name][(*own, row)] = dt * hard * mu
    in_floor = dt / sides.of("density", WATER, nodes)
    return replace(medium, water_in_floor=np.ascontiguousarray(in_floor, medium.p_modulus.dtype))
