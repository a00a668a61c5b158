"""A spectral model of the atmosphere on a rank: its state, rates, and steps in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.apps.atmosphere.solver.equations import Equations, columns_of
from fathometer.apps.atmosphere.solver.transform import Transform
from fathometer.base import ledger

Floats = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]


class SpectralModel:
    """State and steps.

    Args:
        surface: geopotential of the ground on a pair of latitudes, [hemisphere, longitude], by the pair's number; None:
            a sphere.
        damping: of vorticity, divergence and temperature. power: of the wavenumber, 2 or 4, by which they are damped,
            in m²/s or m⁴/s. filter: of Robert and Asselin.

    Attributes:
        now, before: coefficients [row, state columns] of two times: vorticity, divergence, temperature of all levels,
            ln of the surface pressure.
        surface: coefficients of the ground's geopotential [row, 1].
    """

    def __init__(
        self,
        equations: Equations,
        transform: Transform,
        surface: Callable[[int], Floats] | None = None,
        damping: float = 0.0,
        filter: float = 0.06,
        power: int = 4,
    ) -> None:
        self.equations, self.transform, self._filter = equations, transform, filter
        self._damping, self._power = damping, power
        self.levels = equations.levels
        self.now, self.before = (transform.empty(3 * self.levels + 1) for _ in range(2))
        self.surface = transform.empty(1)
        if surface is not None:

            def ground(pair: int, values: Floats) -> None:
                values[..., 0] = surface(pair)

            self.surface = transform.from_grid(1, ground)
        self._step = 0.0  # that matrices and damping are of
        self._matrices: dict[str, Any] = {}

    @property
    def columns(self) -> tuple[int, int, int]:
        """Of coefficients of the state, of what is brought to the grid, and of what comes back."""
        return columns_of(self.levels)

    def begin(self, weather: Callable[[int], tuple[Floats, Floats, Floats, Floats]]) -> None:
        """Collective. The state of the beginning: winds and temperature [hemisphere, longitude, level], and surface
        pressure [hemisphere, longitude], Pa, on a pair of latitudes, by its number."""
        levels, cosines = self.levels, self.transform.grid.cosines

        def fill(pair: int, values: Floats) -> None:
            u, v, temperature, pressure = weather(pair)
            values[...] = 0
            values[..., :levels] = u / cosines[pair]
            values[..., levels : 2 * levels] = v / cosines[pair]
            values[..., 4 * levels : 5 * levels] = temperature
            values[..., -1] = np.log(pressure)

        # Rates of a state that has only these, which are the state.
        sums = self.transform.from_grid(self.columns[2], fill)
        self.now = self._gathered(sums, np.zeros_like(self.surface))
        self.before = self.now.copy()

    def rates(
        self,
        forcing: Callable[[int], Floats | None] = lambda _: None,
        weather: Floats | None = None,
        winds: Floats | None = None,
    ) -> Complex:
        """Collective. Rates of change of `now`.

        forcing: of winds and temperature [hemisphere, longitude, 3 levels] on a pair of latitudes, by its number among
        all. weather: filled with winds, temperature and surface pressure, [pair, hemisphere, longitude, 3 levels + 1].
        winds: filled with what carries tracers, alike, [.., 3 levels - 1].
        """
        grid, kernel = self.transform.grid, self.equations.kernel
        sines, cosines, rotation = grid.sines, grid.cosines, 2 * self.equations.planet.rotation
        first = self.transform.pairs.start

        def columns(pair: int, values: Floats, result: Floats) -> None:
            push = forcing(pair)
            for half, sign in enumerate((1, -1)):
                kernel.rates(
                    sine=sign * sines[pair],
                    cosine=cosines[pair],
                    rotation=rotation,
                    grid=values[half],
                    forcing=None if push is None else push[half],
                    rates=result[half],
                    weather=None if weather is None else weather[pair - first, half],
                    winds=None if winds is None else winds[pair - first, half],
                )

        sums = self.transform.through_grid(self.spread(), self.columns[2], columns)
        return self._gathered(sums, self.surface)

    def spread(self) -> Complex:
        """Coefficients of what is brought to the grid."""
        result = np.empty((self.transform.rows, self.columns[1]), np.complex128)
        with ledger.phase("spectral"):
            self.transform.sphere.spread(
                levels=self.levels,
                radius=self.equations.planet.radius,
                state=self.now.view(np.float64),
                result=result.view(np.float64),
            )
        return result

    def _gathered(self, sums: Complex, surface: Complex) -> Complex:
        result = np.empty((self.transform.rows, self.columns[0]), np.complex128)
        with ledger.phase("spectral"):
            self.transform.sphere.gather(
                levels=self.levels,
                radius=self.equations.planet.radius,
                surface=surface.view(np.float64),
                sums=sums.view(np.float64),
                result=result.view(np.float64),
            )
        return result

    def leap(self, rates: Complex, dt: float, first: bool) -> None:
        """A step of dt with rates of `now`: over 2 dt from `before`, or, the first one, over dt from `now`."""
        half = dt / 2 if first else dt
        if half != self._step:
            self._prepare(half)
        with ledger.phase("spectral"):
            self.transform.sphere.leap(
                radius=self.equations.planet.radius,
                dt=half,
                filter=0.0 if first else self._filter,
                rates=rates.view(np.float64),
                before=self.before.view(np.float64),
                now=self.now.view(np.float64),
                **self._matrices,
            )

    def _prepare(self, half: float) -> None:
        """Matrices and damping of a step over 2 half."""
        planet, truncation = self.equations.planet, self.transform.grid.truncation
        implicit = self.equations.implicit
        n = np.arange(truncation + 1)
        laplacian = n * (n + 1) / planet.radius**2
        times = self._power // 2
        # Solid rotation, n = 1, is no shear and stays as it is.
        flow = np.maximum(laplacian**times - (2 / planet.radius**2) ** times, 0.0)
        self._matrices = {
            "inverse": implicit.inverse(truncation, planet.radius, half),
            "hydrostatic": np.ascontiguousarray(implicit.hydrostatic.T),
            "energy": np.ascontiguousarray(implicit.energy.T),
            "mass": implicit.mass,
            "surface": implicit.gas,
            "flow_damping": 1 / (1 + 2 * half * self._damping * flow),
            "temperature_damping": 1 / (1 + 2 * half * self._damping * laplacian**times),
        }
        self._step = half

    def weather(self) -> Floats:
        """Collective. Winds, m/s, temperature, K, vorticity, 1/s, of all levels and surface pressure, Pa, of this
        rank's pairs of latitudes: [pair, hemisphere, longitude, 4 levels + 1]."""
        levels, spread = self.levels, self.spread()
        wanted = np.r_[3 * levels : 5 * levels, 2 * levels : 3 * levels, :levels, 5 * levels]
        values = self.transform.to_grid(np.ascontiguousarray(spread[:, wanted]))
        cosines = self.transform.grid.cosines[self.transform.pairs]
        values[..., : 2 * levels] /= cosines[:, None, None, None]
        values[..., -1] = np.exp(values[..., -1])
        return values

    def close(self) -> None:
        """Collective. Free what MPI keeps."""
        self.transform.close()
