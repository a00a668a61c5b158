"""Imaging conditions, and filters on a finished image."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from mpi4py import MPI

from fathometer.parallel.agreement import reduced
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.memory import allocate
from fathometer.seismic.propagator import Correlation
from fathometer.seismic.survey import Imaging


class ImagingCondition(Protocol):
    """Makes an image of a source wavefield (snapshots) and a receiver wavefield."""

    illumination: np.ndarray

    def correlation(self, snapshot: np.ndarray) -> Correlation:
        """What the receiver wavefield is to add at one imaging step."""

    def image(self, comm: MPI.Intracomm) -> np.ndarray:
        """Collective. The image of all that was accumulated, on this rank's cells of the model."""


class CrossCorrelation:
    """Zero lag: I(x) = sum over shots and time of p_s p_r (Claerbout 1971, Geophysics 36(3)). In arbitrary units."""

    def __init__(self, shape: Index3, dtype: np.dtype[Any]) -> None:
        self._product = allocate(shape, dtype)
        self.illumination = allocate(shape, dtype)

    def correlation(self, snapshot: np.ndarray) -> Correlation:
        return Correlation(snapshot, self._product, self.illumination)

    def image(self, comm: MPI.Intracomm) -> np.ndarray:
        return self._product


class SourceNormalised(CrossCorrelation):
    """Zero-lag correlation over source illumination: I / (S + lambda), S = sum p_s^2, lambda = 1e-3 max S.

    Proportional to a reflection coefficient (Kaelin & Guitton 2006, SEG).
    """

    STABILISATION = 1e-3

    def image(self, comm: MPI.Intracomm) -> np.ndarray:
        strongest = reduced(comm, float(self.illumination.max(initial=0.0)), "MAX")
        if strongest == 0.0:
            return self._product
        floor = self.illumination.dtype.type(self.STABILISATION * strongest)
        return np.asarray(self._product / (self.illumination + floor))


CONDITIONS: dict[str, type[CrossCorrelation]] = {
    "cross-correlation": CrossCorrelation,
    "source-normalised": SourceNormalised,
}


def condition_of(imaging: Imaging, shape: Index3, dtype: np.dtype[Any]) -> ImagingCondition:
    """The imaging condition that the survey names."""
    return CONDITIONS[imaging.condition](shape, dtype)


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
