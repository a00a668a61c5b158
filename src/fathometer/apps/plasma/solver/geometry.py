"""The flux tube: a field line of one poloidal turn (theta), and Fourier modes across it (kx, ky).

s-alpha geometry: circular, concentric flux surfaces, B = 1/(1 + epsilon cos theta). A mode (kx, ky) goes on at the end
of the turn as (kx + 2 pi s ky, ky) at its begin: in a box as another of its modes, in a linear chain as the next one.
Without shear it is joined to itself. A slab has neither drifts nor a mirror force.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Geometry:
    """Attributes: q: safety factor. shear: s. epsilon: of the flux surface, r/R. alpha: of the pressure. slab: whether
    it is one."""

    q: float = 1.4
    shear: float = 0.786
    epsilon: float = 0.18
    alpha: float = 0.0
    slab: bool = False


@dataclass(frozen=True, eq=False)
class Modes:
    """Fourier modes across the field line.

    Attributes:
        ky: [ky], over 1/rho_i. kx: [ky, kx], at theta = 0. shift: [ky], how many kx further a mode goes on.
        box: whether ky and kx are the wave numbers of a box, whose modes act on each other.
    """

    ky: Floats
    kx: Floats
    shift: npt.NDArray[np.int64]
    box: bool = False

    @property
    def waves(self) -> int:
        """Number of kx."""
        return int(self.kx.shape[1])

    @classmethod
    def chain(cls, ky: Floats, turns: int, shear: float, theta0: float) -> Modes:
        """Each ky alone, on a field line of so many turns; theta0: where it is least sheared."""
        number = np.arange(turns) - turns // 2
        kx: Floats = (2 * math.pi * number - theta0) * shear * ky[:, None]
        return cls(ky, kx.astype(np.float64), np.ones(len(ky), np.int64))

    @classmethod
    def joined(cls, ky: Floats, kx: Floats) -> Modes:
        """Each (ky, kx) alone and joined to itself."""
        return cls(ky, np.tile(kx, (len(ky), 1)), np.zeros(len(ky), np.int64))

    @classmethod
    def in_box(cls, ky: int, kx: int, ky_least: float, kx_least: float, twist: int) -> Modes:
        """ky from 0 on, kx around 0; twist: how many kx further the first ky goes on."""
        last = (kx - 1) // 2
        waves = kx_least * np.arange(-last, last + 1)
        return cls(
            ky_least * np.arange(ky, dtype=np.float64),
            np.tile(waves, (ky, 1)),
            twist * np.arange(ky, dtype=np.int64),
            box=True,
        )


@dataclass(frozen=True, eq=False)
class FluxTube:
    """Modes on a field line: what the equations need of the place. Arrays are [ky, theta, kx]."""

    geometry: Geometry
    modes: Modes
    points: int

    @cached_property
    def theta(self) -> Floats:
        """[theta], from -pi on."""
        return 2 * math.pi * (np.arange(self.points) - self.points // 2) / self.points

    @property
    def spacing(self) -> float:
        """Of theta."""
        return 2 * math.pi / self.points

    @cached_property
    def field(self) -> Floats:
        """[theta]: B."""
        return 1 / (1 + self.geometry.epsilon * np.cos(self.theta))

    @cached_property
    def gradient(self) -> Floats:
        """[theta]: d ln B/d theta."""
        return self.geometry.epsilon * np.sin(self.theta) * self.field

    @cached_property
    def _radial(self) -> Floats:
        """kx with what shear adds along the field line."""
        sheared = self.geometry.shear * self.theta - self.geometry.alpha * np.sin(self.theta)
        return self.modes.kx[:, None, :] + self.modes.ky[:, None, None] * sheared[None, :, None]

    @cached_property
    def k_perp(self) -> Floats:
        """Wave number across the field, over 1/rho_i."""
        return np.sqrt(self.modes.ky[:, None, None] ** 2 + self._radial**2)

    @cached_property
    def drift(self) -> Floats:
        """omega_D over (T/Z) v² (1 + xi²)/2."""
        if self.geometry.slab:
            return np.zeros_like(self._radial)
        cos, sin = np.cos(self.theta)[:, None], np.sin(self.theta)[:, None]
        return np.asarray(-(self.modes.ky[:, None, None] * cos + self._radial * sin))

    @cached_property
    def weight(self) -> Floats:
        """[theta]: 1/B over its sum, of means over the flux tube."""
        return (1 / self.field) / np.sum(1 / self.field)
