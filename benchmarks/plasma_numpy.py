"""The linear terms of a plasma by NumPy, written from the equations: what the kernels are checked and timed against."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fathometer.apps.plasma.solver.model import Plasma

Complex = npt.NDArray[np.complex128]


def numpy_rates(plasma: Plasma, g: Complex, h: Complex, chi: Complex) -> Complex:
    """dg/dt [ky, velocity, theta, kx] by all linear terms but collisions and damping, of g, h and chi."""
    tube, grid = plasma.tube, plasma.grid
    modes, velocities, points, waves = g.shape
    shape = (modes, len(grid.species), grid.energies, grid.cosines, points, waves)
    root = np.sqrt(tube.field)[:, None]

    def ghosts(values: Complex) -> Complex:
        out = np.zeros((modes, velocities, points + 6, waves), complex)
        out[:, :, 3:-3] = values
        for mode, shift in enumerate(tube.modes.shift):
            for kx in range(waves):
                if 0 <= kx + shift < waves:
                    out[mode, :, -3:, kx] = values[mode, :, :3, kx + shift]
                if 0 <= kx - shift < waves:
                    out[mode, :, :3, kx] = values[mode, :, -3:, kx - shift]
        return out

    f, u = ghosts(h / root), ghosts(h)

    def at(values: Complex, n: int) -> Complex:
        return values[:, :, 3 + n : points + 3 + n]

    slope = (45 * (at(f, 1) - at(f, -1)) - 9 * (at(f, 2) - at(f, -2)) + at(f, 3) - at(f, -3)) / 60
    sixth = (-20 * u[:, :, 3:-3] + 15 * (at(u, 1) + at(u, -1)) - 6 * (at(u, 2) + at(u, -2)) + at(u, 3) + at(u, -3)) / 60
    stream = (grid.parallel / tube.geometry.q / tube.spacing)[None, :, None, None]
    upwind = np.repeat([one.upwind for one in grid.species], grid.energies * grid.cosines)[None, :, None, None]
    mirror = np.einsum("xy,msvytk->msvxtk", grid.mirror, h.reshape(shape)).reshape(g.shape)
    mirror = mirror * (grid.thermal * grid.v / tube.geometry.q)[None, :, None, None] * tube.gradient[:, None]
    drift = 1j * tube.drift[:, None] * plasma.curvature()[None, :, None, None] * h
    drive = 1j * plasma.drives()[:, :, None, None] * chi
    return np.asarray(-stream * root * slope + np.abs(stream) * upwind * sixth + mirror - drift - drive)
