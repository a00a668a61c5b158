"""Imaging conditions, and filters on a finished image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from mpi4py import MPI

from fathometer.grid.arrays import allocate
from fathometer.parallel.collectives import allreduce
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.survey import ImagingTable
from fathometer.seismic.waves.propagator import Correlation


class ImagingCondition(Protocol):
    """Makes an image of a source wavefield (snapshots) and a receiver wavefield.

    Attributes:
        volumes: what a shot adds to each volume by name, on this rank's cells of the model; the illumination is last.
    """

    laplacian: ClassVar[float]  # times -∇² of what `image` gives is the image; 0: that is the image
    makes_new_image: ClassVar[bool]  # whether `image` returns a new array, beside the sums
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
    def image(cls, product: np.ndarray, illumination: np.ndarray, comm: MPI.Intracomm) -> np.ndarray:
        """Collective. The image from the sums over all shots, on this rank's cells.

        product, illumination: sums of p_s p_r and of p_s^2, (nx, ny, nz) in the propagation's dtype; so is the image.
        """


class CrossCorrelation:
    """Zero lag: I(x) = sum over shots and time of p_s p_r (Claerbout 1971, Geophysics 36(3)). In arbitrary units."""

    laplacian: ClassVar[float] = 0.0
    makes_new_image: ClassVar[bool] = False

    def __init__(self, names: Sequence[str], shape: Index3, dtype: np.dtype[Any]) -> None:
        self.volumes = {name: allocate(shape, dtype) for name in names}
        *_, self._illumination = self.volumes.values()

    def begin(self) -> None:
        for volume in self.volumes.values():
            volume.fill(0)

    def take(self, volume: str) -> None:
        self._product = self.volumes[volume]
        self._illumination.fill(0)  # each pass through the snapshots adds all of it

    def correlation(self, snapshot: np.ndarray) -> Correlation:
        return Correlation(snapshot, self._product, self._illumination)

    @classmethod
    def image(cls, product: np.ndarray, illumination: np.ndarray, comm: MPI.Intracomm) -> np.ndarray:
        return product


class SourceNormalised(CrossCorrelation):
    """Zero-lag correlation over source illumination: I / (S + lambda), S = sum p_s^2, lambda = 1e-3 max S.

    Proportional to a reflection coefficient (Kaelin & Guitton 2006, SEG).
    """

    STABILISATION = 1e-3
    makes_new_image: ClassVar[bool] = True

    @classmethod
    def image(cls, product: np.ndarray, illumination: np.ndarray, comm: MPI.Intracomm) -> np.ndarray:
        strongest = allreduce(comm, float(illumination.max(initial=0.0)), "MAX")
        if strongest == 0.0:
            return product
        floor = illumination.dtype.type(cls.STABILISATION * strongest)
        return np.asarray(product / (illumination + floor))


class InverseScattering(CrossCorrelation):
    """I(x) = sum over shots and time of v^-2 ∂t p_s ∂t p_r - ∇p_s·∇p_r: waves that travel the same way cancel, so that
    backscattering leaves no trace (Op 't Root, Stolk & de Hoop 2012, J. Math. Pures Appl. 98; Whitmore & Crawley 2012,
    SEG).

    Integration by parts moves both time derivatives to the receiver side, - v^-2 p_s ∂tt p_r, and
    2 ∇p_s·∇p_r = ∇²(p_s p_r) - p_s ∇²p_r - p_r ∇²p_s. By the isotropic wave equation, v^-2 ∂tt p = ∇²p away from
    sources and receivers, all that needs a derivative of one wavefield cancels in the sum over time, and

        I = - 1/2 ∇² sum of p_s p_r

    is left: neither derivatives nor more fields are kept. In VTI it is this filter that is applied.
    """

    laplacian: ClassVar[float] = 0.5


CONDITIONS: dict[str, type[CrossCorrelation]] = {
    "cross-correlation": CrossCorrelation,
    "source-normalised": SourceNormalised,
    "inverse-scattering": InverseScattering,
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
