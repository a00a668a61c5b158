"""Atmospheres for tests: transforms and models made directly, input files as dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
from input_values import changed
from mpi4py import MPI

from fathometer.apps.atmosphere.solver.equations import Planet, Primitive, cam_levels, sigma_levels
from fathometer.apps.atmosphere.solver.model import SpectralModel
from fathometer.apps.atmosphere.solver.starts import BaroclinicJet, BaroclinicWave, Start
from fathometer.apps.atmosphere.solver.transform import Grid, Transform

GRIDS = {21: (32, 64), 42: (64, 128), 63: (96, 192), 85: (128, 256), 106: (160, 320)}
# Steps, s, and damping, m⁴/s, by truncation.
STEPS = {21: (2400.0, 2e16), 42: (1200.0, 1e16), 63: (800.0, 2.5e15), 85: (600.0, 1e15), 106: (480.0, 4e14)}
VISCOSITY = 7e5  # m²/s, of Polvani's jet
DAY = 86400.0

WAVE: dict[str, Any] = {
    "grid": {"truncation": 21},
    "levels": {"count": 6},
    "start": {"kind": "baroclinic-wave"},
    "time": {"end": 1.0},
    "output": {"every": 0.25, "restart_steps": 7},
}
WATER: dict[str, Any] = {
    "grid": {"truncation": 21},
    "start": {"kind": "rossby-haurwitz"},
    "time": {"end": 1.0, "step": 1800.0},
    "output": {"every": 0.5},
}


def wave_values(**changes: Any) -> dict[str, Any]:
    """WAVE with further keys: table__key = value; None removes it."""
    return changed(WAVE, changes)


def water_values(**changes: Any) -> dict[str, Any]:
    """WATER with further keys."""
    return changed(WATER, changes)


def grid_of(truncation: int) -> Grid:
    """A Gaussian grid without aliases of products."""
    return Grid(truncation, *GRIDS[truncation])


def transform_of(truncation: int, workers: int = 2) -> Transform:
    """On this process alone."""
    return Transform(grid_of(truncation), MPI.COMM_SELF, "alltoallv", workers)


def coefficients(transform: Transform, columns: int, seed: int = 1) -> np.ndarray:
    """Random ones of real fields, up to the truncation."""
    random = np.random.default_rng(seed)
    shape = (transform.rows, columns)
    found = random.normal(size=shape) + 1j * random.normal(size=shape)
    found[transform.orders == 0] = found[transform.orders == 0].real
    found[transform.degrees > transform.grid.truncation] = 0
    return found


def wave(truncation: int, disturbed: bool, levels: int | None = None) -> BaroclinicWave:
    """With 26 levels, or some of equal pressure."""
    interfaces = cam_levels() if levels is None else sigma_levels(levels)
    return BaroclinicWave(grid_of(truncation), Primitive(Planet(), *interfaces), disturbed)


def baroclinic_jet(truncation: int, disturbed: bool, levels: int = 20) -> BaroclinicJet:
    """With levels of equal pressure."""
    equations = Primitive(BaroclinicJet.EARTH, *sigma_levels(levels))
    return BaroclinicJet(grid_of(truncation), equations, disturbed)


def model_of(start: Start, damping: float = 0.0, transform: Transform | None = None, power: int = 4) -> SpectralModel:
    """At its beginning."""
    transform = transform or Transform(start.grid, MPI.COMM_SELF, "alltoallv", 2)
    model = SpectralModel(start.equations, transform, start.ground, damping, power=power)
    model.begin(start.weather)
    return model


def run(model: SpectralModel, step: float, days: float) -> SpectralModel:
    """Some days later."""
    for number in range(round(days * DAY / step)):
        model.leap(model.rates(), step, number == 0)
    return model


def mean(model: SpectralModel, values: np.ndarray) -> float:
    """Over the globe, of [pair, hemisphere, longitude]."""
    grid = model.transform.grid
    return float((values * grid.weights[:, None, None]).sum() / (2 * grid.longitudes))


def on_finer_grid(coarse: SpectralModel, fine: SpectralModel) -> np.ndarray:
    """Weather of a model on the grid of one of a higher truncation, by its coefficients."""
    there, here = fine.transform, coarse.transform
    rows = {waves: row for row, waves in enumerate(zip(there.orders, there.degrees, strict=True))}
    shown = SpectralModel(fine.equations, there)
    shown.now[[rows[waves] for waves in zip(here.orders, here.degrees, strict=True)]] = coarse.now
    return shown.weather()


def apart(coarse: SpectralModel, fine: SpectralModel, column: int) -> float:
    """l2 over the globe of the difference of a column of two models' weather, on the finer grid."""
    change = on_finer_grid(coarse, fine)[..., column] - fine.weather()[..., column]
    return float(np.sqrt(mean(fine, change**2)))
