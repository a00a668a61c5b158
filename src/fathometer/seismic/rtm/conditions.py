"""Imaging conditions, and filters on a finished image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from fathometer.grid.arrays import allocate
from fathometer.parallel.decomposition import Index3
from fathometer.parallel.threads import over_planes
from fathometer.seismic.survey import ImagingTable
from fathometer.seismic.waves.propagator import Correlation

THREADS_FROM = 1 << 24  # bytes of a volume, from which on all threads clear it


class ImagingCondition(Protocol):
    """Makes an image of a source wavefield (snapshots) and a receiver wavefield.

    Attributes:
        volumes: what a shot adds to each volume by name, on this rank's cells of the model; the illumination is last.
    """

    by_illumination: ClassVar[bool]  # whether `image` divides by the illumination, into a new array
    volumes: dict[str, np.ndarray]

    def begin(self) -> None:
        """A shot begins."""

    def take(self, volume: str) -> None:
        """Correlations go to this volume from now on."""

    def correlation(self, snapshot: np.ndarray) -> Correlation:
        """What the receiver wavefield is to add at one imaging step.

        snapshot: pressure of the source wavefield then, (nx, ny, nz) of this rank's cells (Propagator.image_shape).
        """

    @classmethod
    def image(cls, product: np.ndarray, illumination: np.ndarray, stabilisation: float, gain: float) -> np.ndarray:
        """The image from the sums over all shots, on this rank's cells.

        product, illumination: sums of p_s p_r and of p_s^2, (nx, ny, nz) in the propagation's dtype; so is the image.
        stabilisation: added to an illumination that is divided by (illumination.py); above 0. gain: for the error of
        the time steps in such a quotient (steps_gain.py).
        """


class CrossCorrelation:
    """Zero lag: I(x) = sum over shots and time of p_s p_r (Claerbout 1971, Geophysics 36(3)). In arbitrary units."""

    by_illumination: ClassVar[bool] = False

    def __init__(self, names: Sequence[str], shape: Index3, dtype: np.dtype[Any]) -> None:
        self.volumes = {name: allocate(shape, dtype) for name in names}
        *_, self._illumination = self.volumes.values()
        self._passes = 0

    def begin(self) -> None:
        for volume in self.volumes.values():
            _clear(volume)
        self._passes = 0

    def take(self, volume: str) -> None:
        self._product = self.volumes[volume]
        if self._passes:  # each pass through the snapshots adds all of it
            _clear(self._illumination)
        self._passes += 1

    def correlation(self, snapshot: np.ndarray) -> Correlation:
        return Correlation(snapshot, self._product, self._illumination)

    @classmethod
    def image(cls, product: np.ndarray, illumination: np.ndarray, stabilisation: float, gain: float) -> np.ndarray:
        return product


def _clear(volume: np.ndarray) -> None:
    if volume.nbytes < THREADS_FROM:
        volume.fill(0)
    else:
        over_planes(lambda x: volume[x].fill(0), len(volume))


class SourceNormalised(CrossCorrelation):
    """Zero-lag correlation over source illumination: I / (S + lambda), S = sum p_s^2 (Kaelin & Guitton 2006, SEG).

    At a reflector of coefficient R(theta) it is R c / (2 A cos theta): A the distance of receivers (2D, m) or the area
    that one stands for (3D, m^2), c and theta velocity and angle from the vertical at the receivers.
    """

    by_illumination: ClassVar[bool] = True

    @classmethod
    def image(cls, product: np.ndarray, illumination: np.ndarray, stabilisation: float, gain: float) -> np.ndarray:
        quotient = np.asarray(illumination + illumination.dtype.type(stabilisation))
        np.divide(product, quotient, out=quotient)
        quotient *= quotient.dtype.type(gain)
        return quotient


CONDITIONS: dict[str, type[CrossCorrelation]] = {
    "cross-correlation": CrossCorrelation,
    "source-normalised": SourceNormalised,
}


def condition_of(imaging: ImagingTable) -> type[CrossCorrelation]:
    """The imaging condition that the survey names."""
    return CONDITIONS[imaging.condition]


def laplacian(image: np.ndarray, spacing: tuple[float, ...]) -> np.ndarray:
    """-(d_xx + d_yy + d_zz) of an image (the shape less one cell on each side of every axis longer than 1).

    Removes the low wavenumbers of backscattered energy (Zhang & Sun 2009, First Break 27). The minus sign keeps the
    polarity of the image's events.

    Args:
        image: (nx, ny, nz), one cell wider on both sides than what is asked for; ny = 1 in two dimensions.
        spacing: dx, dy, dz in m.
    """
    axes = [axis for axis in range(3) if image.shape[axis] > 1]
    inside = tuple(slice(1, -1) if axis in axes else slice(None) for axis in range(3))
    total = np.zeros_like(image[inside])
    for axis in axes:
        before = tuple(slice(None, -2) if a == axis else s for a, s in enumerate(inside))
        behind = tuple(slice(2, None) if a == axis else s for a, s in enumerate(inside))
        total -= (image[before] + image[behind] - 2 * image[inside]) / image.dtype.type(spacing[axis] ** 2)
    return total
