"""The bracket {chi, g} = d chi/dx dg/dy - d chi/dy dg/dx of rows in the layout of modes.

{chi, h} is the same, since h differs from g by a multiple of chi. Products are made on a grid of more than 3/2 as many
points along each axis, so that none is folded back onto the modes (Orszag 1971); the sums of g {chi, g} and of
chi {chi, g} vanish then. Rows come in batches that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import fft

from fathometer import _native
from fathometer.apps.plasma.solver.geometry import Modes

Floats = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
BATCH_BYTES = 1 << 19  # of the derivatives of a batch, for each thread


def grid_of(modes: Modes) -> tuple[int, int]:
    """Points along x and y of the grid on which products are made."""
    last = (modes.waves - 1) // 2
    ny = 3 * (len(modes.ky) - 1) + 1
    return fft.next_fast_len(3 * last + 1), fft.next_fast_len(max(ny, 2), real=True)


class Bracket:
    """Of the rows of a rank.

    Args:
        modes: of the box. points: of theta. speed: along the field line, by velocity, of this rank's velocities.
        first: number of the first row among all of these velocities. workers: threads of the transforms.
    """

    def __init__(self, modes: Modes, points: int, speed: Floats, first: int, workers: int) -> None:
        self._modes, self._first, self._workers = len(modes.ky), first, workers
        self._nx, self._ny = grid_of(modes)
        self._plane = _native.PlasmaPlane(
            points=points, nx=self._nx, ny=self._ny, kx=np.ascontiguousarray(modes.kx[0]), ky=modes.ky, speed=speed
        )
        of_row = _native.PLASMA_DERIVATIVES * self._nx * (16 * self._modes + 8 * self._ny)
        self._batch = max(1, workers * BATCH_BYTES // of_row)

    def apply(self, g: Complex, j0: Floats, fields: Complex, result: Complex, between: Callable[[], None]) -> float:
        """Fill `result` [ky, row, kx] with the bracket; the largest rate at which flow across the field carries the
        shortest waves, R/v_i.

        fields: [fields, ky, theta, kx]. between: called between batches.
        """
        real, potentials = g.view(np.float64), fields.view(np.float64)
        a = potentials[1] if len(potentials) > 1 else None
        rows, largest = g.shape[1], 0.0
        for begin in range(0, rows, self._batch):
            count = min(self._batch, rows - begin)
            waves = np.empty((_native.PLASMA_DERIVATIVES, count, self._modes, 2 * self._nx))
            self._plane.derive(first=self._first, start=begin, g=real, j0=j0, phi=potentials[0], a=a, result=waves)
            product, rates = np.empty((count, self._ny, self._nx)), np.empty(count)
            self._plane.product(derivative=self._backward(waves.view(np.complex128)), result=product, rates=rates)
            self._plane.collect(start=begin, transform=self._forward(product), bracket=result.view(np.float64))
            largest = float(np.maximum(largest, rates.max()))  # NaN stays
            between()
        return largest

    def _backward(self, waves: Complex) -> Floats:
        found = fft.ifft(waves, axis=-1, norm="forward", overwrite_x=True, workers=self._workers)
        return np.asarray(fft.irfft(found, self._ny, axis=-2, norm="forward", workers=self._workers))

    def _forward(self, product: Floats) -> Floats:
        found = fft.rfft(product, axis=-2, norm="forward", workers=self._workers)
        own = np.ascontiguousarray(found[:, : self._modes])
        return np.asarray(fft.fft(own, axis=-1, norm="forward", overwrite_x=True, workers=self._workers)).view(
            np.float64
        )
