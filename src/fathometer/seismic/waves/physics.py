"""Wave equations: how many fields and model arrays each has, and what follows from that (native/acoustic)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Physics:
    """A wave equation as the kernels step it.

    Attributes:
        name: in records and machine files. title: for people. fields: that it steps. models: arrays of dt^2 M on the
            owned cells (model/medium.py).
        exchanged: for each field, the axes along which it is differentiated, and halos are needed therefore.
        stages: of a time step, each with an exchange of its own.
        surface_cells: fewest along z that the block below a free surface may have.
        layer_work: what an absorbing layer adds to a step of a cell in it, about, in steps of a cell without.
    """

    name: str
    title: str
    fields: int
    models: int
    exchanged: tuple[tuple[int, ...], ...]
    stages: int = 1
    surface_cells: int = 1
    layer_work: float = 0.2

    @property
    def arrays(self) -> int:
        """Arrays of a step: two time levels of each field, the model."""
        return 2 * self.fields + self.models

    @property
    def fewest_moves(self) -> int:
        """Numbers that a step must move for a cell: fields now and before and the model read, next fields written."""
        return 3 * self.fields + self.models

    def flops_per_point(self, order: int, flat: bool) -> int:
        """Additions and multiplications of a cell's step, multiply-adds counted as two (native/acoustic/vti.hpp).

        Those of the absorbing layers, of sources and receivers are not counted. flat: two dimensions.
        """
        derivative = 1 + 3 * (order // 2)  # the centre's product; a sum and a multiply-add for each pair
        axes = 2 if flat else 3
        if self.fields == 1:
            return axes * derivative + (axes - 1) + 4  # Laplacian's sums; p - p-, multiply-add, sum
        return axes * derivative + (axes - 2) + 6 + 6  # sums across; M times (h, l); three sums for each field


ISOTROPIC = Physics("isotropic", "isotropic", 1, 1, ((0, 1, 2),))
VTI = Physics("vti", "VTI", 2, 3, ((0, 1), (2,)))
PHYSICS = {physics.name: physics for physics in (VTI, ISOTROPIC)}


def physics_of(model: Sequence[Any]) -> Physics:
    """The physics whose model consists of so many arrays."""
    return next(physics for physics in PHYSICS.values() if physics.models == len(model))
