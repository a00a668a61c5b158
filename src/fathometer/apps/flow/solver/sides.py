"""The sides of a box of fluid, and what they make of halos and of the pressure's equation.

Velocities along an axis stand at the lower faces of cells, the others and the temperature half a cell from a side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
SideKind = Literal["periodic", "wall", "slip", "inflow", "outflow"]
SIDES = ("x-", "x+", "y-", "y+", "z-", "z+")


@dataclass(frozen=True, eq=False)
class Side:
    """A side of the box.

    Attributes:
        kind: periodic: joined to the opposite one; wall: no slip; slip: free slip; inflow: velocities are given;
            outflow: what comes leaves, at pressure 0.
        velocity: of the fluid at the side, m/s, by axis (0 to 2): a number, or a value for each cell of the side, in
            the order of the other axes with x last. None along an axis: 0.
        temperature: K, the same; None: insulated.
    """

    kind: SideKind
    velocity: Mapping[int, float | Floats] = field(default_factory=dict)
    temperature: float | Floats | None = None

    @property
    def given(self) -> bool:
        """Whether the velocity through the side is given."""
        return self.kind in ("wall", "slip", "inflow")

    @property
    def mirror(self) -> float:
        """The pressure beyond the side, in units of that at it: 1 without a gradient, -1 where it is 0."""
        return -1.0 if self.kind == "outflow" else 1.0


@dataclass(frozen=True)
class Halo:
    """How the halo of a field next to a side is filled: see Fill in native/flow/flow.hpp."""

    kind: Literal["wrap", "mirror", "face"]
    sign: float = 1.0
    value: float | Floats = 0.0


def velocity_halo(side: Side, axis: int, along: int) -> Halo | None:
    """Of the velocity along an axis next to a side across `axis`; None: what is there stays."""
    if side.kind == "periodic":
        return Halo("wrap")
    value = side.velocity.get(along, 0.0)
    if axis == along:
        return Halo("face", value=value) if side.given else None
    if side.kind in ("wall", "inflow"):
        return Halo("mirror", -1.0, 2.0 * value)
    return Halo("mirror")


def temperature_halo(side: Side) -> Halo:
    """Of the temperature."""
    if side.kind == "periodic":
        return Halo("wrap")
    return Halo("mirror") if side.temperature is None else Halo("mirror", -1.0, 2.0 * side.temperature)


def pressure_halo(side: Side) -> Halo:
    """Of the pressure, and of whatever makes velocities free of divergence."""
    return Halo("wrap") if side.kind == "periodic" else Halo("mirror", side.mirror)
