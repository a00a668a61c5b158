"""Absorbing boundaries: a sponge, and a perfectly matched layer (PML).

    sponge   w_tt + 2 eta w_t = M D w, eta >= 0 rising towards the edge of the grid
    PML      d/dx -> (1/s) d/dx with 1/s = 1 - eta / (i omega + eta + alpha): in time a recursive filter

(Komatitsch & Martin 2007, Geophysics 72(5); the discrete scheme: native/acoustic/sponge.hpp, pml.hpp.) The profiles
assume one velocity, the largest of the model.

Each kind is one class with the same interface: `width` (cells added on a side), `damping(...)` (a sponge's profile) and
`recursion(...)` (a PML's filters); what a kind does not have is None. Which is the default was decided by measurement:
docs/theory.md has the comparison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

STRENGTH = 4.0  # of a MultiaxialPml


class Boundary(Protocol):
    """How waves leave the grid."""

    @property
    def width(self) -> int:
        """Cells that an absorbing boundary adds to a side of the grid."""

    def damping(self, depth: np.ndarray, spacing: float, vmax: float) -> np.ndarray | None:
        """Damping eta of a sponge in 1/s, (n,) float64; None of a PML.

        Args:
            depth: (n,) float64, distances from the layer's inner edge in widths of the layer: 1 at the outermost cell.
            spacing: of the cells along the axis, m. vmax: largest velocity of the model, m/s.
        """

    def recursion(
        self, depth: np.ndarray, spacing: float, vmax: float, frequency: float, dt: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Gain and decay of a PML's filters, each (n,) float64 without unit; None of a sponge.

        memory = decay * memory + gain * q in each time step, for a derivative q that the PML corrects.

        Args:
            depth, spacing, vmax: as of `damping`. frequency: peak frequency of the wavelet, Hz. dt: time step, s.
        """


@dataclass(frozen=True)
class Sponge:
    """Damping w_tt + 2 eta w_t, eta rising as a power of depth: always stable, but it reflects what it damps fast.

    Kept as the baseline that a PML is measured against, and for whoever wants a provably falling energy.
    """

    width: int = 40
    power: float = 2.5
    strength: float = 2.6  # integral of eta over the layer, in units of vmax

    def damping(self, depth: np.ndarray, spacing: float, vmax: float) -> np.ndarray | None:
        top = self.strength * (self.power + 1) * vmax / (self.width * spacing)
        return np.asarray(top * np.maximum(depth, 0.0) ** self.power)

    def recursion(
        self, depth: np.ndarray, spacing: float, vmax: float, frequency: float, dt: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        return None


@dataclass(frozen=True)
class Pml:
    """Convolutional PML: 1/s = 1 - eta / (i omega + eta + alpha), native/acoustic/pml.cpp.

    eta rises as depth^power so that the theoretical reflection at normal incidence is 10^-width; alpha falls from pi
    times the peak frequency to 0, which lets low frequencies and grazing waves in gently (Komatitsch & Martin 2007).
    At normal incidence, the discrete layer reflects more than that, whatever the theory says. What a stronger layer
    gains is waves that graze it: they meet it as the power cos(angle) of its theoretical reflection.
    """

    width: int = 8
    power: float = 2.0

    def damping(self, depth: np.ndarray, spacing: float, vmax: float) -> np.ndarray | None:
        return None

    def recursion(
        self, depth: np.ndarray, spacing: float, vmax: float, frequency: float, dt: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        depth = np.maximum(depth, 0.0)
        top = (self.power + 1) * vmax * math.log(10) / (2 * spacing)  # the width cancels
        eta = top * depth**self.power
        alpha = np.pi * frequency * (1 - depth)
        decay = np.where(eta > 0, np.exp(-(eta + alpha) * dt), 0.0)
        gain = np.where(eta > 0, eta / np.where(eta > 0, eta + alpha, 1.0) * (decay - 1), 0.0)
        return gain, decay


@dataclass(frozen=True)
class MultiaxialPml(Pml):
    """Convolutional PML of elastic waves, of which a share acts on the fields themselves.

    eta rises as the sixth power of depth up to what leaves 10^-STRENGTH of a P wave at normal incidence. A PML alone
    lets waves grow that thin beds guide and whose phases run against their energy. Damping of the derivatives along the
    layer by a share of that across stops them (Meza-Fajardo & Papageorgiou 2008, Bull. Seism. Soc. Am. 98(4)); what the
    layer reflects is in proportion to this share. docs/elastic.md has the measurements.

    Attributes:
        multiaxial: the share.
    """

    width: int = 20
    power: float = 6.0
    multiaxial: float = 0.03

    def recursion(
        self, depth: np.ndarray, spacing: float, vmax: float, frequency: float, dt: float
    ) -> tuple[np.ndarray, np.ndarray]:
        eta = self._eta(depth, spacing, vmax)
        alpha = np.pi * frequency * np.clip(1 - depth, 0.0, 1.0)
        decay = np.where(eta > 0, np.exp(-(eta + alpha) * dt), 0.0)
        return np.where(eta > 0, eta / np.where(eta > 0, eta + alpha, 1.0) * (decay - 1), 0.0), decay

    def keep(self, depth: np.ndarray, spacing: float, vmax: float, dt: float) -> np.ndarray:
        """What a time step leaves of the fields, (n,) float64; arguments as of `damping` and `recursion`."""
        return np.asarray(np.exp(-self.multiaxial * self._eta(depth, spacing, vmax) * dt))

    def _eta(self, depth: np.ndarray, spacing: float, vmax: float) -> np.ndarray:
        top = (self.power + 1) * vmax * STRENGTH * math.log(10) / (2 * self.width * spacing)
        return np.asarray(top * np.maximum(depth, 0.0) ** self.power)
