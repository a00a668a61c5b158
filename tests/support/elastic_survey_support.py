"""Elastic surveys with models in files, as the tests of elastic input need them."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.earth import ElasticEarth, read_earth
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.survey import Survey, survey_of

SURVEY: dict[str, Any] = {
    "model": {"vp": "vp.npy", "vs": "vs.npy", "density": "density.npy", "spacing": [10.0, 12.0, 8.0]},
    "acquisition": {"sources": {"x": 20.0, "y": 20.0, "z": 20.0}, "receivers": {"x": 30.0, "y": 30.0, "z": 8.0}},
    "wavelet": {"kind": "ricker", "peak_frequency": 10.0},
    "source": {"kind": "explosion"},
    "propagation": {"physics": "elastic", "duration": 1.0},
}
PAD = ((3, 4), (2, 3), (0, 5))


def survey_with(folder: Path, **changes: Any) -> Survey:
    """The survey with tables replaced or added to: model={"qp": 50.0}; None removes a key."""
    values = copy.deepcopy(SURVEY)
    for section, table in changes.items():
        if table is None:
            del values[section]
            continue
        merged = values.get(section, {}) | table
        values[section] = {key: value for key, value in merged.items() if value is not None}
    return survey_of(values, folder / "survey.toml")


def random_model(folder: Path, shape: tuple[int, ...] = (9, 8, 7), seed: int = 1) -> dict[str, np.ndarray]:
    """Files vp, vs (a fifth of it fluid), density, qp, qs (.npy), and their values."""
    rng = np.random.default_rng(seed)
    vp = rng.uniform(2500, 4000, shape)
    vs = vp * rng.uniform(0.3, 0.6, shape)
    vs[rng.random(shape) < 0.2] = 0
    values = {"vp": vp, "vs": vs, "density": rng.uniform(1800, 2600, shape)}
    values |= {"qp": rng.uniform(30, 60, shape), "qs": rng.uniform(60, 90, shape)}
    values = {name: array.astype(np.float32) for name, array in values.items()}
    for name, array in values.items():
        np.save(folder / f"{name}.npy", array)
    return values


def padded_grid(survey: Survey) -> tuple[EarthFiles, Grid]:
    files = EarthFiles(survey)
    pad = (PAD[0], (0, 0), PAD[2]) if files.grid.two_dimensional else PAD
    return files, replace(files.grid, pad=pad)


def earth_of(
    survey: Survey, fit: Attenuation | None = None, ranks: Index3 = (1, 1, 1), rank: int = 0
) -> tuple[ElasticEarth, Grid, Decomposition]:
    """One rank's part of the model, read without the others."""
    files, grid = padded_grid(survey)
    block = Decomposition(grid.full_shape, ranks, rank)
    return read_earth(files, grid, block, fit, MPI.COMM_SELF), grid, block
