"""Epsilon and delta by simple rules, from velocity and the depth of the sea floor, where nothing better is known."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.model.earth import FASTEST, SLOWEST, THOMSEN

Floats = npt.NDArray[np.float32]


class Rule(Protocol):
    """A parameter of Thomsen's by the velocity of a cell."""

    def __call__(self, vp: Floats) -> Floats:
        """Its values for velocities (m/s), same shape."""


@dataclass(frozen=True)
class Constant:
    """The same everywhere."""

    value: float

    def __call__(self, vp: Floats) -> Floats:
        return np.full(vp.shape, self.value, np.float32)


@dataclass(frozen=True)
class ByVelocity:
    """Linear in velocity (m/s, increasing) between the points, constant outside them."""

    velocities: tuple[float, ...]
    values: tuple[float, ...]

    def __call__(self, vp: Floats) -> Floats:
        return np.asarray(np.interp(vp, self.velocities, self.values), np.float32)


def rule_of(text: str) -> Constant | ByVelocity:
    """A number, or velocity:V=VALUE,V=VALUE,... with V in m/s. Raises InputError."""
    words = "allowed: a number, or velocity:V=VALUE,V=VALUE,... with increasing V in m/s"
    kind, colon, rest = text.partition(":")
    velocities: tuple[float, ...] = ()
    try:
        if not colon:
            values: tuple[float, ...] = (float(text),)
        elif kind == "velocity":
            pairs = [part.split("=") for part in rest.split(",")]
            velocities, values = tuple(float(v) for v, _ in pairs), tuple(float(value) for _, value in pairs)
        else:
            raise ValueError
    except ValueError:
        raise InputError(f"found {text}; {words}") from None
    if not all(a < b for a, b in itertools.pairwise(velocities)) or not all(map(math.isfinite, velocities)):
        raise InputError(f"found {text}; {words}")
    low, high = THOMSEN
    if not all(low < value <= high for value in values):
        raise InputError(f"found {text}; allowed: values above {low:g}, up to {high:g}: fractions, not percent")
    return ByVelocity(velocities, values) if colon else Constant(values[0])


@dataclass(frozen=True)
class SeaFloor:
    """Where the water ends: at a depth (m), or with the first cell from above that is faster than `velocity` (m/s)."""

    velocity: float | None = None
    depth: float | None = None

    def depths(self, vp: Floats, grid: Grid) -> npt.NDArray[np.float64]:
        """Depths (nx, ny), m, of the first cells of rock below velocities vp [x, y, z]; infinite where there is none.

        Raises InputError where there is none at all.
        """
        if self.depth is not None:
            return np.full(vp.shape[:2], self.depth)
        assert self.velocity is not None
        rock = vp > self.velocity
        found = rock.any(axis=2)
        if not found.any():
            raise InputError(
                f"--below-water: no cell is faster than {self.velocity:g} m/s; the model's are {vp.min():g} to "
                f"{vp.max():g} m/s"
            )
        depths = grid.origin[2] + grid.spacing[2] * np.argmax(rock, axis=2)
        return np.where(found, depths, np.inf)


def sea_floor_of(text: str) -> SeaFloor:
    """A velocity in m/s that water does not reach, or depth:METRES. Raises InputError."""
    kind, colon, rest = text.partition(":")
    try:
        number = float(rest if colon else text)
    except ValueError:
        number = math.nan
    if colon and kind == "depth" and math.isfinite(number):
        return SeaFloor(depth=number)
    if colon or not SLOWEST <= number <= FASTEST:
        raise InputError(f"found {text}; allowed: a velocity above that of water, in m/s, or depth:METRES")
    return SeaFloor(velocity=number)


def rock(depths: npt.NDArray[np.float64], grid: Grid) -> npt.NDArray[np.bool_]:
    """Which cells [x, y, z] lie at or below the depths (nx, ny), m, to a thousandth of a cell."""
    z = grid.origin[2] + grid.spacing[2] * np.arange(grid.shape[2])
    return np.asarray(z >= depths[:, :, None] - 1e-3 * grid.spacing[2])


def check_well_posed(epsilon: Floats, delta: Floats, grid: Grid) -> None:
    """Raises InputError where epsilon < delta, since the wave equation then has growing solutions."""
    excess = delta - epsilon
    cells = int(np.count_nonzero(excess > 0))
    if cells:
        worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
        place = ", ".join(f"{grid.origin[axis] + grid.spacing[axis] * worst[axis]:g}" for axis in grid.axes)
        raise InputError(
            f"--epsilon, --delta: epsilon < delta in {cells} of {epsilon.size} cells, the worst {epsilon[worst]:g} < "
            f"{delta[worst]:g} at ({place}) m; allowed: epsilon >= delta everywhere (a rule left out is 0)"
        )
