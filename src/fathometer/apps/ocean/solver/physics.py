"""Numbers of the equations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class StateEquation(IntEnum):
    """Density from temperature, salinity and pressure. WRIGHT: Wright (1997, J. Atmos. Oceanic Technol. 14)."""

    LINEAR = 0
    WRIGHT = 1


class Drag(IntEnum):
    """Stress at the bottom over density: none; r u; C |u| u."""

    NONE = 0
    LINEAR = 1
    QUADRATIC = 2


@dataclass(frozen=True)
class Physics:
    """Constants and coefficients.

    Attributes:
        gravity: m/s². density: of reference, kg/m³.
        viscosity, diffusivity: along levels, m²/s. vertical_viscosity, vertical_diffusivity: m²/s.
        convective_diffusivity: vertical, where the water above is heavier, m²/s.
        drag, drag_coefficient: m/s (linear), 1 (quadratic).
        state_equation; for the linear one: expansion (1/K), contraction (1 over salinity), and the temperature (°C)
            and salinity at which density is that of reference.
        advect_momentum: whether momentum is advected (not in linear problems).
    """

    gravity: float = 9.81
    density: float = 1026.0
    viscosity: float = 0.0
    diffusivity: float = 0.0
    vertical_viscosity: float = 0.0
    vertical_diffusivity: float = 0.0
    convective_diffusivity: float = 0.0
    drag: Drag = Drag.NONE
    drag_coefficient: float = 0.0
    state_equation: StateEquation = StateEquation.LINEAR
    expansion: float = 2e-4
    contraction: float = 8e-4
    reference_temperature: float = 10.0
    reference_salinity: float = 35.0
    advect_momentum: bool = True
