"""The bracket {chi, g} = d chi/dx dg/dy - d chi/dy dg/dx of rows in the layout of modes.

{chi, h} is the same, since h differs from g by a multiple of chi. Products are made on a grid of more than 3/2 as many
points along each axis, so that none is folded back onto the modes (Orszag 1971); the sums of g {chi, g} and of
chi {chi, g} vanish then. Rows come in batches that stay in the cache of a core.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import fft

from fathometer import _native
from fathometer.apps.plasma.solver.geometry import Modes
from fathometer.parallel.workers import Workers

Floats = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
BATCH_BYTES = 1 << 21  # of a batch's derivatives: in the cache, and Python's calls are few

KEPT_BYTES = 1 << 25  # arrays of up to so many come and go with each batch; glibc allows no more


def grid_of(modes: Modes) -> tuple[int, int]:
    """Points along x and y of the grid on which products are made."""
    last = (modes.waves - 1) // 2
    ny = 3 * (len(modes.ky) - 1) + 1
    return fft.next_fast_len(3 * last + 1), fft.next_fast_len(max(ny, 2), real=True)


class Bracket:
    """Of the rows of a rank.

    Args:
        modes: of the box. points: of theta. speed: along the field line, by velocity, of this rank's velocities.
        first: number of the first row among all of these velocities. workers: threads.
    """

    def __init__(self, modes: Modes, points: int, speed: Floats, first: int, workers: int) -> None:
        self._modes, self._first = len(modes.ky), first
        self._nx, self._ny = grid_of(modes)
        self._plane = _native.PlasmaPlane(
            points=points, nx=self._nx, ny=self._ny, kx=np.ascontiguousarray(modes.kx[0]), ky=modes.ky, speed=speed
        )
        of_row = _native.PLASMA_DERIVATIVES * self._nx * (16 * self._modes + 8 * self._ny)
        self._batch = max(1, BATCH_BYTES // of_row)
        _native.keep_freed_memory(KEPT_BYTES)
        # Rows are independent: a thread has a batch to itself, which costs less than transforms shared by threads.
        self._workers = Workers(workers)

    def apply(self, g: Complex, j0: Floats, fields: Complex, result: Complex, between: Callable[[], None]) -> float:
        """Fill `result` [ky, row, kx] with the bracket; the largest rate at which flow across the field carries the
        shortest waves, R/v_i.

        fields: [fields, ky, theta, kx]. between: called between batches.
        """
        potentials = fields.view(np.float64)
        a = potentials[1] if len(potentials) > 1 else None
        arrays = (g.view(np.float64), j0, potentials[0], a, result.view(np.float64))
        largest = 0.0
        for rate in self._workers.map(lambda begin: self._batch_of(begin, *arrays), range(0, g.shape[1], self._batch)):
            largest = float(np.maximum(largest, rate))  # NaN stays
            between()
        return largest

    def close(self) -> None:
        """End the threads."""
        self._workers.close()

    def _batch_of(self, begin: int, g: Floats, j0: Floats, phi: Floats, a: Floats | None, result: Floats) -> float:
        """The bracket of a batch of rows, on one thread; the largest rate."""
        count = min(self._batch, g.shape[1] - begin)
        waves = np.empty((_native.PLASMA_DERIVATIVES, count, self._modes, 2 * self._nx))
        self._plane.derive(first=self._first, start=begin, g=g, j0=j0, phi=phi, a=a, result=waves)
        product, rates = np.empty((count, self._ny, self._nx)), np.empty(count)
        self._plane.product(derivative=self._backward(waves.view(np.complex128)), result=product, rates=rates)
        self._plane.collect(start=begin, transform=self._forward(product), bracket=result)
        return float(rates.max())

    def _backward(self, waves: Complex) -> Floats:
        found = fft.ifft(waves, axis=-1, norm="forward", overwrite_x=True)
        return np.asarray(fft.irfft(found, self._ny, axis=-2, norm="forward"))

    def _forward(self, product: Floats) -> Floats:
        found = fft.rfft(product, axis=-2, norm="forward")
        own = np.ascontiguousarray(found[:, : self._modes])
        return np.asarray(fft.fft(own, axis=-1, norm="forward", overwrite_x=True)).view(np.float64)
