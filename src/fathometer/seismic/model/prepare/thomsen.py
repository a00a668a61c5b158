"""Epsilon and delta of a volume, or by rules of thumb from velocity and the depth of the sea floor."""

from __future__ import annotations

import itertools
import math
import os.path
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.model.limits import FASTEST, SLOWEST, THOMSEN

Floats = npt.NDArray[np.float32]


class Rule(Protocol):
    """A Thomsen parameter as a function of vertical P velocity."""

    def __call__(self, vp: Floats) -> Floats:
        """Values, float32, for velocities (m/s), in their shape."""


@dataclass(frozen=True)
class Constant:
    """Rule of one value for all velocities."""

    value: float

    def __call__(self, vp: Floats) -> Floats:
        return np.full(vp.shape, self.value, np.float32)


@dataclass(frozen=True)
class ByVelocity:
    """Rule by piecewise linear interpolation in velocity, constant outside its points."""

    velocities: tuple[float, ...]  # m/s, increasing
    values: tuple[float, ...]

    def __call__(self, vp: Floats) -> Floats:
        return np.asarray(np.interp(vp, self.velocities, self.values), np.float32)


@dataclass(frozen=True)
class Given:
    """Values of a volume on the model's cells, by its reference."""

    reference: str


def rule_of(text: str) -> Constant | ByVelocity | Given:
    """The rule written as a number, as velocity:V=VALUE,V=VALUE,... with V in m/s, or as the reference of a volume.
    Raises InputError."""
    allowed = "allowed: a number, velocity:V=VALUE,V=VALUE,... with increasing V in m/s, or a volume"
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
        if _names_file(text):
            return Given(text)
        raise InputError(f"found {text}; {allowed}") from None
    if not all(a < b for a, b in itertools.pairwise(velocities)) or not all(map(math.isfinite, velocities)):
        raise InputError(f"found {text}; {allowed}")
    low, high = THOMSEN
    if not all(low < value <= high for value in values):
        raise InputError(f"found {text}; allowed: values above {low:g}, up to {high:g}: fractions, not percent")
    return ByVelocity(velocities, values) if colon else Constant(values[0])


def _names_file(text: str) -> bool:
    """Whether there is a file or folder of this name, or of its part before a colon."""
    ends = [len(text), *(i for i, letter in enumerate(text) if letter == ":")]
    return any(os.path.exists(text[:end]) for end in ends)  # False also of names that no file can have


@dataclass(frozen=True)
class SeaFloor:
    """Sea floor: a depth, or the first cell from above that is faster than a velocity."""

    velocity: float | None = None  # m/s
    depth: float | None = None  # m

    def depths(self, vp: Floats, grid: Grid) -> npt.NDArray[np.float64]:
        """Depths (nx, ny), float64, m, of the first rock cell of each column of vp [x, y, z], m/s; infinite where a
        column has none.

        Raises InputError where no column has rock.
        """
        if self.depth is not None:
            return np.full(vp.shape[:2], self.depth)
        assert self.velocity is not None
        rock = vp > self.velocity
        has_rock = rock.any(axis=2)
        if not has_rock.any():
            raise InputError(
                f"--below-water: no cell is faster than {self.velocity:g} m/s; the model's are {vp.min():g} to "
                f"{vp.max():g} m/s"
            )
        depths = grid.origin[2] + grid.spacing[2] * np.argmax(rock, axis=2)
        return np.where(has_rock, depths, np.inf)


def sea_floor_of(text: str) -> SeaFloor:
    """The sea floor written as a velocity in m/s above that of water, or as depth:METRES. Raises InputError."""
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
    """Mask [x, y, z] of the cells at or below the depths (nx, ny), m, to a thousandth of a cell."""
    z = grid.origin[2] + grid.spacing[2] * np.arange(grid.shape[2])
    return np.asarray(z >= depths[:, :, None] - 1e-3 * grid.spacing[2])


def check_well_posed(epsilon: Floats, delta: Floats, grid: Grid) -> None:
    """Raises InputError where epsilon < delta (both [x, y, z]): the wave equation then has growing solutions."""
    excess = delta - epsilon
    cells = int(np.count_nonzero(excess > 0))
    if cells:
        worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
        position = ", ".join(f"{grid.origin[axis] + grid.spacing[axis] * worst[axis]:g}" for axis in grid.axes)
        raise InputError(
            f"--epsilon, --delta: epsilon < delta in {cells} of {epsilon.size} cells, the worst {epsilon[worst]:g} < "
            f"{delta[worst]:g} at ({position}) m; allowed: epsilon >= delta everywhere (a rule left out is 0)"
        )
