"""The arrays of a rank: what is known at the beginning of a step, and what a step makes of it.

Axes are block, x, y and, last, level; blocks lie side by side with their halos. Values on land are zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(eq=False)
class State:
    """What a step reads and writes.

    Attributes:
        eta, eta_next: surface height at T points (nb, X, Y), m, before the step and after it.
        u, v, u_next, v_next: velocity at U points (nb, X, Y, nz), m/s; the next one is provisional until corrected.
        tracers, tracers_next: (nt, nb, X, Y, nz): temperature in °C, salinity, then any others.
        tendencies: advection and metric terms of momentum of this step, of the one before and of the one before that,
            each (2, nb, X, Y, nz), m/s²: for u and for v.
        step: how many steps were taken.
        p: hydrostatic pressure over the density of reference (nb, X, Y, nz), m²/s².
        transport: of depth, with the weights of both times, without the change of surface height: (2, nb, X, Y), m²/s.
        shift: what makes u_next, v_next the velocity that transports (2, nb, X, Y), m/s.
        flux_x, flux_y: through the east and north faces of cells (nb, X, Y, nz), m³/s.
    """

    eta: Floats
    eta_next: Floats
    u: Floats
    v: Floats
    u_next: Floats
    v_next: Floats
    tracers: Floats
    tracers_next: Floats
    tendencies: list[Floats]
    p: Floats
    transport: Floats
    shift: Floats
    flux_x: Floats
    flux_y: Floats
    step: int = 0

    @classmethod
    def at_rest(cls, columns: tuple[int, int, int], levels: int, tracers: int = 2) -> State:
        """Zeros in arrays of `columns` (nb, X, Y) and `levels`."""

        def flat(*more: int) -> Floats:
            return np.zeros((*more, *columns))

        def deep(*more: int) -> Floats:
            return np.zeros((*more, *columns, levels))

        return cls(
            eta=flat(),
            eta_next=flat(),
            u=deep(),
            v=deep(),
            u_next=deep(),
            v_next=deep(),
            tracers=deep(tracers),
            tracers_next=deep(tracers),
            tendencies=[deep(2) for _ in range(3)],
            p=deep(),
            transport=flat(2),
            shift=flat(2),
            flux_x=deep(),
            flux_y=deep(),
        )

    def advance(self) -> None:
        """What is next becomes what is known; the tendencies of this step become those of the one before."""
        self.eta, self.eta_next = self.eta_next, self.eta
        self.u, self.u_next = self.u_next, self.u
        self.v, self.v_next = self.v_next, self.v
        self.tracers, self.tracers_next = self.tracers_next, self.tracers
        self.tendencies = [self.tendencies[2], *self.tendencies[:2]]
        self.step += 1
