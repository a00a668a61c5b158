"""An ocean that nobody computed: field files written by OceanFields from given arrays, and its record."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from mpi4py import MPI
from sea import blocked, input_of, layouts

from fathometer.apps.ocean.field_kinds import KINDS
from fathometer.apps.ocean.fields import OceanFields
from fathometer.apps.ocean.grid import OceanGrid
from tests.support.report_support import a_record

SECONDS = {  # of both ranks, beside those of report_support
    ("baroclinic", "compute"): (3.0, 3.5),
    ("barotropic", "compute"): (1.0, 1.2),
}
DAY = 86400.0
FIELDS = tuple(kind for kind in KINDS if kind not in ("tracers", "vertical_velocity"))


def basin(nx=60, ny=40, nz=8, spherical=True, periodic=False):
    """A basin between coasts that bend, with an island and a shelf."""
    x, y = np.meshgrid(np.arange(nx) / nx, np.arange(ny) / ny, indexing="ij")
    thickness = 20.0 * 1.6 ** np.arange(nz)
    levels = np.clip(nz * 8.0 * np.minimum(x - 0.1 - 0.05 * np.sin(6 * y), 0.97 - x), 0, nz).astype(np.int32)
    levels[(x - 0.6) ** 2 + (y - 0.6) ** 2 < 0.01] = 0
    if ny > 3:
        levels[:, :2] = levels[:, -2:] = 0
    step = (1.0, 1.0) if spherical else (25e3, 25e3)
    origin = (-80.0, 10.0) if spherical else (0.0, 0.0)
    width = 1e5 * np.ones(ny)
    return OceanGrid(
        origin[0] + step[0] * (np.arange(nx) + 0.5),
        origin[1] + step[1] * (np.arange(ny) + 0.5),
        width,
        width,
        1e5,
        1e-4 * np.ones(ny),
        0 * width,
        thickness,
        levels,
        periodic,
        spherical,
    )


def state(grid, time):
    """Whole arrays at a time, s: a gyre whose strength grows, warm in the south and above."""
    nx, ny, nz = grid.shape
    x, y, z = np.arange(nx)[:, None, None] / nx, np.arange(ny)[:, None] / ny, np.arange(nz) / nz
    strength = 0.2 + 0.8 * time / (20 * DAY)
    water, corner = (np.arange(nz) < levels[..., None] for levels in (grid.levels, grid.levels_u))
    u = -strength * np.cos(np.pi * y) * np.sin(np.pi * x) * np.exp(-4.0 * z)
    v = strength * np.cos(np.pi * x) * np.sin(np.pi * y) * np.exp(-4.0 * z)
    gyre = 0.6 * strength * np.sin(np.pi * x) * np.sin(np.pi * y)
    return {
        "temperature": np.where(water, 4.0 + (24.0 - 20.0 * y + np.sin(9 * x) + strength) * np.exp(-3 * z), 0.0),
        "salinity": np.where(water, 35.0 + np.sin(3 * x) - z, 0.0),
        "u": np.where(corner, u, 0.0),
        "v": np.where(corner, v, 0.0),
        "eta": np.where(grid.levels > 0, gyre[..., 0] - 0.2, 0.0),
    }


def written(folder, grid, times=(0.0, 10 * DAY, 20 * DAY), fields=FIELDS):
    """The case, as far as the picture takes it, and its fields, written into a folder."""
    layout = layouts(grid, 1, tile=8, blocks=(8, 8))[0]
    file = input_of(folder, fields)
    files = OceanFields(file, grid, layout, MPI.COMM_SELF)
    files.begin()
    for time in times:
        files.write_state(round(time / 3600.0), time, blocked(layout, state(grid, time)))
    return SimpleNamespace(file=file, problem=SimpleNamespace(grid=grid)), files


def record_of(grid, files, folder, steps=480):
    """A record of such a run, as a run writes it."""
    layout = layouts(grid, 4, tile=8, blocks=(8, 8))[0]
    rows = [
        {
            "step": n,
            "time_seconds": 3600.0 * n,
            "iterations": 30 + n % 7,
            "kinetic_energy_joules": 1e15 * (1 - np.exp(-n / 100)),
            "mean_temperature": 10.0 + 1e-4 * n,
            "mean_salinity": 35.0,
            "largest_speed": 0.5 + 1e-3 * n,
            "largest_courant": 0.1 + 1e-4 * n,
        }
        for n in range(10, steps + 1, 10)
    ]
    record = a_record(SECONDS)
    record |= {"application": "ocean", "command": ["ocean", "sea.toml"]}
    nx, ny, _ = grid.shape
    step = [float(grid.x[1] - grid.x[0]), float(grid.y[1] - grid.y[0])]
    record["input"] = {
        "ocean_file": str(folder / "sea.toml"),
        "grid": {"kind": "sphere" if grid.spherical else "plane", "cells": [nx, ny]},
        "bathymetry": {"kind": "bowl"},
        "water": {"equation_of_state": "wright"},
        "mixing": {"viscosity": 1e4, "vertical_viscosity": 1e-3, "diffusivity": 1e3, "vertical_diffusivity": 1e-4},
        "forcing": {"wind": {"kind": "zonal", "amplitude": 0.1}},
        "barotropic": {
            "solver": "chronopoulos-gear",
            "preconditioner": "block",
            "tile": 8,
            "tolerance": 1e-13,
            "iterations": None,
            "sums": "mpi",
            "implicitness": 0.6,
        },
        "time": {"step": 3600.0, "steps": steps},
    }
    record["results"] = {
        "files": {"fields": str(files.files(files.written)[-1])},
        "grid": {
            "shape": list(grid.shape),
            "spacing": step,
            "origin": [float(grid.x[0]) - step[0] / 2, float(grid.y[0]) - step[1] / 2],
            "spherical": grid.spherical,
            "periodic": grid.periodic,
            "thickness_metres": grid.thickness.tolist(),
            "wet_cells": int(grid.levels.sum()),
            "wet_columns": int((grid.levels > 0).sum()),
        },
        "blocks": {
            "count": len(layout.blocks),
            "cells_left_out": layout.cells_left_out,
            "owners": [[list(block.lo), list(block.hi), block.rank] for block in layout.blocks],
        },
        "time_seconds": 3600.0 * steps,
        "step_seconds": 3600.0,
        "steps": steps,
        "earlier_steps": 0,
        "counts": {"iterations": 33.0 * steps, "reductions": 34.0 * steps, "halos": 40.0 * steps},
        "course": rows,
        "field_files": [f"fields/{path.name}" for path in files.files(files.written)],
        "fields": list(FIELDS),
        "balance": [
            {
                "tracer": name,
                "content_before": 1.5e18,
                "content_after": 1.6e18,
                "gained_at_surface": 1e17,
                "error": 3e-14,
            }
            for name in ("temperature", "salinity", "volume")
        ],
        "performance": {
            "baroclinic_seconds": 3.5,
            "barotropic_seconds": 1.2,
            "simulated_years_per_day": 1006.5,
            "iterations_per_step": 33.0,
            "reductions_per_second": 13600.0,
        },
        "peak_memory_bytes": [1 << 28, 1 << 28],
        "notes": [],
    }
    return record
