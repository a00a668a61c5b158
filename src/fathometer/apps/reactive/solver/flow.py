"""What is solved: a reactive flow as numbers and arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fathometer.apps.reactive.chemistry.system import ChemicalSystem
from fathometer.parallel.decomposition import Index3

Floats = npt.NDArray[np.float64]
BlockOf = Callable[[Sequence[int], Sequence[int]], Floats]  # values of the cells lo to hi (exclusive): their shape

SIDES = ("x-", "x+", "y-", "y+", "z-", "z+")
CLOSED, FIXED, OPEN, INFLOW = range(4)  # kinds of a side's faces


@dataclass(frozen=True, eq=False)
class Side:
    """One of the six sides of the grid; arrays over its faces, along the two other axes in their order.

    Attributes:
        kind: uint8. CLOSED: nothing passes; FIXED: the outside has a given water, by advection and diffusion; OPEN:
            what flows out leaves with the water of the cell, what flows in has the given water; INFLOW: the same, of a
            side that water enters: no diffusion through it (a given flux of each component).
        water: int64, number of the outside's water among Flow.waters; -1 where there is none.
        head: m of water, NaN where no flow passes; None: the flux is given.
    """

    kind: npt.NDArray[np.uint8]
    water: npt.NDArray[np.int64]
    head: Floats | None = None


@dataclass(frozen=True, eq=False)
class Flow:
    """A reactive flow.

    Attributes:
        shape, spacing: cells along x, y, z; m. density: kg of water in a m³ of it.
        porosity: of any block of cells. conductivity: hydraulic, m/s, of any block; None: the flux is given.
        flux: m/s, along x, y, z (volume of water through an area of the medium); None: it follows from heads.
        diffusivity: m²/s, in the pores, of all species. dispersivity: m, along and across the flow.
        sides: all six. waters: (w, n), ln of molalities outside.
        scheme: "upwind", "central" or "limited".
    """

    shape: Index3
    spacing: tuple[float, float, float]
    system: ChemicalSystem
    density: float
    porosity: BlockOf
    conductivity: BlockOf | None
    flux: tuple[float, float, float] | None
    diffusivity: float
    dispersivity: tuple[float, float]
    sides: Mapping[str, Side]
    waters: Floats
    scheme: str
