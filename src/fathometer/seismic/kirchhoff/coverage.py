"""What an image is divided by where traces are missing: the part of its surroundings that they stand for.

A sum over traces collects an event from a Fresnel zone of midpoints. Where some of the zone has none, the image has
that part less; what is left is the mean of the traces' areas under a Gaussian as wide as the zone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.places import slabs

Doubles = npt.NDArray[np.float64]
ZONE = 0.43  # standard deviation over the radius of the Fresnel zone, v sqrt(t0 / f) / 2: as gaps show in images
FREQUENCY = 25.0  # Hz, for that radius; the deviation may be off by 1.5 before a gap of a Fresnel zone shows by 10 %
REACH = 4.0  # deviations, where the Gaussian is cut
FINEST, FINE = 256, 64  # places of a standard deviation: the most, and those in their place, linear within 3e-5
LEAST = 0.5  # nothing is scaled up further: where fewer traces lie, events come from elsewhere


@dataclass(frozen=True, eq=False)
class Coverage:
    """The coverage of an image by traces.

    Attributes:
        grid: of the whole image, vertical="time". midpoints: (n, 2), m; in 2D (n, 1). areas: (n,), m² (2D: m), of all
            classes together 1 m² for a m². apart: m, the distance of midpoints within a class.
    """

    grid: Grid
    midpoints: Doubles
    areas: Doubles
    apart: float

    def divide(self, image: Doubles, rms: npt.NDArray[np.float32], lo: Sequence[int]) -> None:
        """Divide columns (nx, ny, nt) of the image, the first of which is at `lo`, in place; rms: their velocities.

        A column's values do not depend on what other columns there are."""
        nx, ny, nt = image.shape
        times = np.maximum(self.grid.origin[2] + self.grid.spacing[2] * np.arange(nt), 0.0)
        highest = math.ceil(self._levels(rms.max(initial=0.0), times).max(initial=0.0))
        own = slice(lo[0], lo[0] + nx), slice(lo[1], lo[1] + ny)
        gaussians = [self._smoothed(number)[own] for number in range(highest + 1)]
        for (x0, y0), (x1, y1) in slabs((0, 0), (nx, ny), nt):
            some = slice(x0, x1), slice(y0, y1)
            levels = self._levels(rms[some], times)
            found = np.zeros(levels.shape)
            for number, gaussian in enumerate(gaussians):  # linear between Gaussians, each twice as wide
                found += np.maximum(1 - np.abs(levels - number), 0.0) * gaussian[some][..., None]
            image[some] /= np.maximum(found, LEAST)

    def _levels(self, rms: npt.ArrayLike, times: Doubles) -> Doubles:
        """How often the narrowest Gaussian is to be widened by 2 for velocities, m/s, and times, s: at least 0."""
        wide = ZONE * 0.5 * np.asarray(rms) * np.sqrt(times / FREQUENCY)
        return np.asarray(np.log2(np.maximum(wide / self._narrowest, 1.0)))

    @cached_property
    def _narrowest(self) -> float:
        """Standard deviation, m, that does not show single midpoints."""
        flat = self.grid.two_dimensional
        return max(self.apart, *self.grid.spacing[: 1 if flat else 2])

    def _smoothed(self, level: int) -> Doubles:
        """(nx, ny) at all places of the image."""
        axes = 1 if self.grid.two_dimensional else 2
        spacing, deviation = np.array(self.grid.spacing[:axes]), self._narrowest * 2.0**level
        # Places much finer than the Gaussian, as of one in km: fewer are computed, and what lies between is linear.
        wide = deviation / spacing
        every = np.where(wide > FINEST, np.floor(wide / FINE), 1).astype(int)
        spacing = spacing * every
        places = -(-(np.array(self.grid.shape[:axes]) - 1) // every) + 1
        around = np.ceil(REACH * deviation / spacing).astype(int)
        shape = places + 2 * around
        # Halves go to the even place, to either side in turn: so the density does not move.
        cells = np.rint((self.midpoints - self.grid.origin[:axes]) / spacing).astype(np.int64) + around
        inside = ((cells >= 0) & (cells < shape)).all(axis=1)
        index = np.ravel_multi_index(tuple(cells[inside].T), tuple(shape))
        density = np.bincount(index, self.areas[inside], int(shape.prod())).reshape(shape) / spacing.prod()
        smooth = gaussian_filter(density, deviation / spacing, mode="constant", truncate=REACH)
        own = np.asarray(smooth[tuple(slice(a, a + n) for a, n in zip(around, places, strict=True))])
        for axis in np.flatnonzero(every > 1):
            before, part = np.divmod(np.arange(self.grid.shape[axis]), every[axis])
            after = np.minimum(before + 1, places[axis] - 1)
            share = (part / every[axis]).reshape([-1 if a == axis else 1 for a in range(axes)])
            own = own.take(before, axis) * (1 - share) + own.take(after, axis) * share
        return own.reshape(self.grid.shape[:2])
