"""Model arrays of the kernels: dt^2 M of the acoustic VTI equation."""

from __future__ import annotations

from typing import Any

import numpy as np

from fathometer.grid.arrays import allocate, padded
from fathometer.parallel.threads import over_planes


def scaled_medium(
    vp: np.ndarray,
    epsilon: np.ndarray | None,
    delta: np.ndarray | None,
    dt: float,
    dtype: np.dtype[Any],
) -> list[np.ndarray]:
    """dt^2 M on a block of cells: [m] (isotropic) or [m11, m12, m22] (VTI).

    M = Vp^2 [[1 + 2 epsilon, s], [s, 1]], s = sqrt(1 + 2 delta) (Duveneck et al. 2008, SEG). Where epsilon = delta M is
    singular, and a determinant made negative by rounding lets noise grow. m12 is therefore rounded down until
    m12^2 <= m11 m22 (1 - 4 u), u the machine epsilon of `dtype`: enough for the four roundings with which the
    kernels multiply by M, and far below the accuracy of s.

    Args:
        vp: (nx, ny, nz) m/s. epsilon, delta: of the same shape, or both None (isotropic).
        dt: time step, s. dtype: of the result.
    Returns:
        Arrays of `dtype`, m^2, (nx, ny, nz rounded up to whole cache lines), zero beyond nz.
    """
    nx, ny, nz = vp.shape
    shape = (nx, ny, padded(nz, dtype.itemsize))
    # The fields use the first four offsets of the stagger.
    stored = [allocate(shape, dtype, stagger=4 + m) for m in range(1 if epsilon is None or delta is None else 3)]

    def plane(x: int) -> None:  # one by one, to avoid a copy of the model in float64
        m22 = (dt * vp[x].astype(np.float64)) ** 2
        stored[-1][x, :, :nz] = m22
        if epsilon is None or delta is None:
            return
        m11, m12 = (array[x, :, :nz] for array in stored[:2])
        m11[:] = m22 * (1 + 2 * epsilon[x].astype(np.float64))
        m12[:] = m22 * np.sqrt(1 + 2 * delta[x].astype(np.float64))
        limit = np.sqrt(m11.astype(np.float64) * stored[-1][x, :, :nz]) * (1 - 2 * np.finfo(dtype).eps)
        np.minimum(m12, limit, out=m12, casting="same_kind")

    over_planes(plane, nx)
    return stored
