"""Synthetic VTI model of the demo, its smooth version for migration, and its reflectivity.

The model is a function of position. The depth z of a cell is mapped to a *stratigraphic depth* s by undoing, in
the reverse order of geology, the normal fault, the uplift over the dome and the dip; s selects the layer from a
table. Water overlies the layers; a dome and a flat basement cut through them. Lengths in the table are fractions of
the model's extent, so that any shape gives the same geology; the fault keeps its true dip in metres.

Boundaries are averaged over one cell: slowness, epsilon and delta are means over several depths inside the cell,
because a staircase in a gently dipping layer diffracts at every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fathometer.seismic.model import means
from fathometer.seismic.model.smoothing import smoothed

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

WATER = 1500.0  # m/s
SALT = 4400.0  # m/s
BASEMENT = 4500.0  # m/s
FAULT_DIP = 62.0  # degrees from the horizontal
SUBCELLS = 4  # depths averaged inside a cell


@dataclass(frozen=True)
class Layer:
    """A layer, from its top down to the next layer."""

    name: str
    top: float  # fraction of the model's depth, before dip and fault
    vp: float  # m/s
    epsilon: float
    delta: float


LAYERS = (
    Layer("mud", -9.0, 1700.0, 0.02, 0.01),
    Layer("silt", 0.25, 1950.0, 0.05, 0.03),
    Layer("sand", 0.35, 2250.0, 0.03, 0.02),
    Layer("VTI shale", 0.45, 2050.0, 0.20, 0.10),
    Layer("tight sand", 0.58, 2800.0, 0.04, 0.03),
    Layer("marl", 0.66, 2550.0, 0.08, 0.05),
    Layer("limestone", 0.74, 3300.0, 0.02, 0.01),
)


@dataclass(frozen=True)
class DemoModel:
    """A VTI model on a regular grid.

    vp (m/s), epsilon and delta (Thomsen) are float32 (nx, ny, nz), axes x, y, z down, with epsilon >= delta
    everywhere. water is bool of the same shape: the cells that are all water. spacing and throw (the vertical
    displacement of the fault) are in metres.
    """

    vp: Floats
    epsilon: Floats
    delta: Floats
    water: npt.NDArray[np.bool_]
    spacing: tuple[float, float, float]
    throw: float
    description: str


def demo_model(shape: Sequence[int], spacing: Sequence[float]) -> DemoModel:
    """The demo's model on a grid of `shape` (nx, ny, nz) cells of `spacing` (dx, dy, dz) in metres.

    ny = 1 is 2D. The result is bitwise reproducible. Raises ValueError for a shape or spacing that is not positive.
    """
    if len(shape) != 3 or min(shape) < 1 or len(spacing) != 3 or min(spacing) <= 0.0:
        raise ValueError(f"demo model: shape {tuple(shape)} and spacing {tuple(spacing)} m are not a 3D grid")
    nx, ny, nz = (int(n) for n in shape)
    dx, dy, dz = (float(d) for d in spacing)
    length, width, depth = max(nx - 1, 1) * dx, (ny - 1) * dy, max(nz - 1, 1) * dz
    x: Doubles = (np.arange(nx, dtype=np.float64) * dx)[:, None, None]
    # y counts from the middle of the model, so that a 2D model is the middle section of the 3D one.
    y: Doubles = (np.arange(ny, dtype=np.float64) * dy - width / 2)[None, :, None]
    z: Doubles = (np.arange(nz, dtype=np.float64) * dz)[None, None, :]
    throw = 0.07 * depth

    sea_floor: Doubles = depth * (0.13 + 0.02 * np.sin(np.pi * (1.6 * x / length + 0.3 * y / length - 0.2)))
    water = np.broadcast_to(z + dz / 2 <= sea_floor, (nx, ny, nz)).copy()
    slowness = np.zeros((nx, ny, nz))
    epsilon = np.zeros((nx, ny, nz))
    delta = np.zeros((nx, ny, nz))
    for part in range(SUBCELLS):
        depths = z + ((part + 0.5) / SUBCELLS - 0.5) * dz
        vp_part, epsilon_part, delta_part = _rock(x, y, depths, sea_floor, length, depth, throw)
        slowness += 1.0 / vp_part / SUBCELLS
        epsilon += epsilon_part / SUBCELLS
        delta += delta_part / SUBCELLS

    return DemoModel(
        vp=np.where(water, WATER, 1.0 / slowness).astype(np.float32),
        epsilon=np.where(water, 0.0, epsilon).astype(np.float32),
        # Rounding in the averages must not put delta above an equal epsilon.
        delta=np.where(water, 0.0, np.minimum(delta, epsilon)).astype(np.float32),
        water=water,
        spacing=(dx, dy, dz),
        throw=throw,
        description=(
            f"{'2D' if ny == 1 else '3D'} VTI model, {nx} x {ny} x {nz} cells: water, "
            f"{len(LAYERS)} gently dipping layers with a VTI shale (epsilon 0.2, delta 0.1), "
            f"a normal fault of {throw:.0f} m throw, "
            f"a dome of {SALT:.0f} m/s and a flat basement of {BASEMENT:.0f} m/s"
        ),
    )


def _rock(
    x: Doubles, y: Doubles, z: Doubles, sea_floor: Doubles, length: float, depth: float, throw: float
) -> tuple[Doubles, Doubles, Doubles]:
    """vp (m/s), epsilon and delta at x, y, z (m; broadcast against each other)."""
    # The dome: a rounded column that widens downwards; r is the distance from its axis over its radius.
    dome_x, radius = 0.70 * length, 0.105 * length
    r = np.hypot(x - dome_x, y) / radius
    dome_top = depth * (0.42 + 0.55 * (1.0 - np.exp(-((0.78 * r) ** 3))))

    # Undo the fault: the block above the plane (the hanging wall, on the side of larger x) went down by the
    # throw, less so towards the sea floor, where the fault dies out.
    plane = 0.30 * length + 0.25 * y + (z - 0.4 * depth) / np.tan(np.radians(FAULT_DIP))
    slip = throw * np.clip((z - sea_floor) / (0.18 * depth), 0.0, 1.0)
    s = np.where(x > plane, z - slip, z)

    # Undo the uplift around the dome and the dip, which varies along x and grows with depth.
    s = s + 0.10 * depth * np.exp(-((r / 1.5) ** 2)) * np.clip((z - sea_floor) / (0.3 * depth), 0.0, 1.0)
    dip = 0.05 * (x / length - 0.5) - 0.018 * np.cos(2.2 * np.pi * x / length + 0.4) + 0.06 * y / length
    s = s / depth - dip * (0.4 + z / depth)

    index = np.searchsorted([layer.top for layer in LAYERS[1:]], s, side="right")
    # Velocity (m/s) increases with depth inside a layer.
    compaction = 250.0 * np.clip(z / depth - 0.15, 0.0, None)
    vp = np.array([layer.vp for layer in LAYERS])[index] + compaction
    epsilon = np.array([layer.epsilon for layer in LAYERS])[index]
    delta = np.array([layer.delta for layer in LAYERS])[index]

    for body, velocity in ((z > dome_top, SALT), (z > 0.90 * depth, BASEMENT), (z < sea_floor, WATER)):
        inside = np.broadcast_to(body, vp.shape)
        vp = np.where(inside, velocity, vp)
        epsilon = np.where(inside, 0.0, epsilon)
        delta = np.where(inside, 0.0, delta)
    return vp, epsilon, delta


def smooth(model: DemoModel, radius: float) -> DemoModel:
    """The model for migration, smoothed by a Gaussian of standard deviation `radius` (m) as `prepare` does by default
    (means.SLOWNESS_SQUARED).

    Only rock is smoothed, with averages normalised by the weight of rock, so the sea floor stays sharp. Ranges and
    epsilon >= delta are kept. Raises ValueError for a negative radius.
    """
    if radius < 0.0:
        raise ValueError(f"smoothing radius {radius} m is negative")
    rock = ~model.water
    if radius == 0.0 or not rock.any():
        return model
    sigma = [radius / d for d in model.spacing]
    mean = means.SLOWNESS_SQUARED
    true_vp, true_epsilon, true_delta = (values.astype(np.float64) for values in (model.vp, model.epsilon, model.delta))
    vp = means.to_velocity(mean, smoothed(means.of_velocity(mean, true_vp), sigma, rock))
    delta = smoothed(true_delta, sigma, rock)
    excess = smoothed(means.excess(mean, true_vp, true_epsilon, true_delta), sigma, rock)
    epsilon = means.to_epsilon(mean, vp, delta, excess)
    return replace(
        model,
        vp=np.where(rock, vp, model.vp).astype(np.float32),
        epsilon=epsilon.astype(np.float32),
        delta=delta.astype(np.float32),
        description=f"{model.description}; smoothed below the sea floor with a Gaussian of {radius:g} m",
    )


def reflectivity(vp: npt.NDArray[np.floating], dz: float, peak_frequency: float | None = None) -> Floats:
    """Vertical-incidence reflectivity at constant density of `vp` (m/s, depth last, cells of dz m), float32.

    Without a frequency: the coefficient r = ½ d(ln vp)/dz · dz. With `peak_frequency` (Hz) r is convolved with a
    zero-phase Ricker wavelet in two-way vertical time and mapped to depth: the ideal image of that band.
    """
    log_vp = np.log(vp.astype(np.float64))
    r = np.zeros_like(log_vp)
    if vp.shape[-1] > 1:
        r = 0.5 * np.gradient(log_vp, axis=-1)
    if peak_frequency is None:
        return r.astype(np.float32)
    # Two-way time of each cell, trapezoidal in depth.
    cell = 2.0 * dz / vp.astype(np.float64)
    time = np.cumsum(cell, axis=-1) - 0.5 * cell
    reach = 1.5 / peak_frequency  # s, beyond which a Ricker is below 1e-8 of its peak
    shallowest = float(cell.min())
    image = r.copy()
    for k in range(1, min(vp.shape[-1] - 1, int(reach / shallowest)) + 1):
        shallow, deep = slice(0, -k), slice(k, None)
        a = (np.pi * peak_frequency * (time[..., deep] - time[..., shallow])) ** 2
        ricker = (1.0 - 2.0 * a) * np.exp(-a)
        image[..., shallow] += r[..., deep] * ricker
        image[..., deep] += r[..., shallow] * ricker
    return image.astype(np.float32)
