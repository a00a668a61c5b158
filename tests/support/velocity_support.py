"""Surveys with velocities for time migrations, and the files that they name."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.velocities import velocities_of
from fathometer.seismic.survey import survey_of
from fathometer.storage.volumes.volume import VolumeInfo, write_volume

SELF = MPI.COMM_SELF
LINE = Grid((5, 1, 101), (100.0, 100.0, 0.02), (0.0, 0.0, 0.0), vertical="time")
CUBE = Grid((5, 4, 51), (100.0, 50.0, 0.04), (0.0, 0.0, 0.0), vertical="time")


def survey(folder, model=None, acquisition=None, **keys):
    """A survey with keys of [time_migration]; its gathers are never opened."""
    values = {"acquisition": {"gathers": "g.segy", **(acquisition or {})}, "time_migration": keys}
    return survey_of(values | ({} if model is None else {"model": model}), folder / "survey.toml")


def velocities(folder, grid, model=None, acquisition=None, **keys):
    return velocities_of(survey(folder, model, acquisition, **keys), grid)


def whole(found):
    """The block of all columns."""
    return found.read((0, 0), found.grid.shape[:2])


def volume(path, values, spacing, origin=None, labels=None, unit="m/s"):
    """Write a volume of values along x, (y,) t."""
    values = np.asarray(values, np.float32)
    labels = labels or (("x", "t") if values.ndim == 2 else ("x", "y", "t"))
    info = VolumeInfo(values.shape, values.dtype, spacing, origin or (0.0,) * values.ndim, labels, unit)
    write_volume(path, info, values, (0,) * values.ndim, SELF)


def column_model(folder, columns, dz, dx=100.0, origin=0.0, **files):
    """A 2D [model] whose columns are all the same: vp and perhaps epsilon and delta over depth; returns its keys."""
    keys = {}
    for name, values in {"vp": columns, **files}.items():
        values = np.broadcast_to(np.asarray(values, np.float32), (5, len(columns)))
        volume(
            folder / f"{name}.rsf", values, (dx, dz), (0.0, origin), ("x", "z"), unit="m/s" if name == "vp" else None
        )
        keys[name] = f"{name}.rsf"
    return keys
