"""The fields of velocity-stress waves: where each lies on the staggered grid and in which stage of a step it advances.

    stage 0   v    += dt / rho (div sigma + f)          v at t + dt/2
    stage 1   sigma += dt (C : grad v - dM/dt)          sigma at t + dt

Node (i, j, k) carries the normal stresses and the model; the other fields lie half a cell further along the axes in
their names, vx half a cell along x, sxy along x and y (Virieux 1986, Geophysics 51(4); Graves 1996, Bull. Seism. Soc.
Am. 86(4)). A free surface is the plane k = 0 of the nodes: vx, vy, sxx, syy, szz and sxy lie in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

VELOCITY, STRESS = 0, 1  # stages of a step
VELOCITIES, NORMAL, SHEAR = ("vx", "vy", "vz"), ("sxx", "syy", "szz"), ("sxy", "sxz", "syz")
REACH = 2  # cells that the derivatives of order 4 reach
WEIGHT_SUM = 9 / 8 + 1 / 24  # of the magnitudes of the first derivative's weights


@dataclass(frozen=True)
class Field:
    """A component of velocity or stress.

    Attributes:
        name: vx ... syz. offset: from the node of the same indices along x, y, z, in cells. stage: that advances it.
    """

    name: str
    offset: tuple[float, float, float]
    stage: int

    @property
    def axes(self) -> tuple[int, ...]:
        """Along which the other stage differentiates it."""
        return tuple(axis for axis in range(3) if self.stage == VELOCITY or "xyz"[axis] in self.name[1:])


def _field(name: str) -> Field:
    kind, axes = name[0], name[1:]
    single = axes if kind == "v" else "".join(axis for axis in axes if axes.count(axis) == 1)
    x, y, z = (0.5 if axis in single else 0.0 for axis in "xyz")
    return Field(name, (x, y, z), VELOCITY if kind == "v" else STRESS)


FIELDS = tuple(map(_field, (*VELOCITIES, *NORMAL, *SHEAR)))
BY_NAME = {field.name: field for field in FIELDS}


def fields_of(two_dimensional: bool) -> tuple[Field, ...]:
    """The fields that a run steps, in the kernels' order; in two dimensions those of P and SV waves in x and z."""
    return tuple(BY_NAME[name] for name in of_dimension(BY_NAME, two_dimensional))


def of_dimension(names: Iterable[str], two_dimensional: bool) -> tuple[str, ...]:
    """Those of these names that a run has: in two dimensions none along y."""
    return tuple(name for name in names if not (two_dimensional and "y" in name))
