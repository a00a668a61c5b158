"""Density differences at work, without rotation: a lock exchange and a standing internal wave, both of known speed.

Benjamin (1968, J. Fluid Mech. 31): the fronts of a lock exchange that loses no energy move with sqrt(g' H) / 2. Set up
as by Ilicak et al. (2012, Ocean Modelling 45-46): 64 km x 20 m in cells of 500 m x 1 m, 5 kg/m³ between the two waters.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from ocean_support import model, plane, problem, whole

from fathometer.apps.ocean.solver.physics import Physics

G = 9.81
COLD, WARM = 5.0, 30.0


@dataclass(frozen=True)
class Exchange:
    """Speeds of the fronts at the bottom and at the surface, over sqrt(g' H) / 2; by how much temperature leaves its
    bounds, °C; temperature (y, z) at the end; the largest difference between columns of the same y, °C."""

    bottom: float
    surface: float
    beyond: float
    section: np.ndarray
    across: float


def lock_exchange(hours=10.0, step=100.0, viscosity=100.0):
    """A lock exchange along y; fronts are where temperature is the mean, from the second hour on."""
    length, depth, cells, levels, density = 64e3, 20.0, 128, 20, 1000.0
    grid = plane((4, cells), (500.0, length / cells), np.full(levels, depth / levels), periodic=True)
    physics = Physics(
        gravity=G,
        density=density,
        viscosity=viscosity,
        vertical_viscosity=1e-4,
        expansion=5.0 / density / (WARM - COLD),
        reference_temperature=COLD,
    )
    temperature = np.full(grid.shape, COLD)
    temperature[:, cells // 2 :] = WARM
    running = model(problem(grid, step, physics=physics, temperature=temperature))
    times, fronts, beyond = [], [], 0.0
    for number in range(1, round(3600 * hours / step) + 1):
        running.step()
        if number % 5 == 0:
            temperature = whole(running, running.state.tracers[0])
            beyond = max(beyond, temperature.max() - WARM, COLD - temperature.min())
            times.append(number * step)
            fronts.append([_front(grid.y, temperature[1, :, level]) for level in (-1, 0)])
    late = np.array(times) >= 7200.0
    away = np.abs(np.array(fronts)[late] - length / 2)
    speeds = np.polyfit(np.array(times)[late], away, 1)[0] / (0.5 * math.sqrt(G * 5.0 / density * depth))
    return Exchange(*speeds, beyond, temperature[1], np.ptp(temperature, axis=0).max())


def _front(y, temperature):
    """Where it is the mean of both waters, m."""
    before = np.flatnonzero(temperature < 0.5 * (COLD + WARM))[-1]
    low, high = temperature[before : before + 2]
    return y[before] + (y[1] - y[0]) * (0.5 * (COLD + WARM) - low) / (high - low)


def test_fronts_of_a_lock_exchange_have_benjamins_speed():
    """Hydrostatic models give about 0.9 to 1 of it: fronts lose energy by mixing and friction."""
    found = lock_exchange()
    assert 0.95 < found.bottom < 1.01
    assert 0.95 < found.surface < 1.01
    assert found.beyond < 1e-12 * WARM
    assert found.across < 1e-9


def internal_period(cells=64, levels=32, periods=3):
    """Period of the first standing internal wave of water of constant N, over 2 L / (N H / pi)."""
    length, depth, warmer = 64e3, 400.0, 8.0
    physics = Physics(gravity=G, advect_momentum=False)
    grid = plane((4, cells), (length / cells, length / cells), np.full(levels, depth / levels), periodic=True)
    n = math.sqrt(G * physics.expansion * warmer / depth)
    exact = 2 * length / (n * depth / math.pi)
    step = exact / 200
    z = -depth * (np.arange(levels) + 0.5) / levels
    mode = np.cos(np.pi * grid.y / length)[:, None] * np.sin(np.pi * z / depth)
    temperature = 10 + warmer / depth * (z - 1e-3 * depth * mode)
    running = model(problem(grid, step, physics=physics, temperature=np.tile(temperature, (4, 1, 1))))
    rest = 10 + warmer / depth * z
    signal = []
    for number in range(round(200 * periods) + 1):
        if number:
            running.step()
        signal.append(((whole(running, running.state.tracers[0])[0] - rest) * mode).sum())
    signal = np.array(signal)
    ups = np.flatnonzero((signal[:-1] < 0) & (signal[1:] >= 0))
    times = ups + signal[ups] / (signal[ups] - signal[ups + 1])
    return step * (times[-1] - times[0]) / (len(times) - 1) / exact


def test_an_internal_wave_has_its_period():
    assert internal_period() == pytest.approx(1.0, abs=0.005)
