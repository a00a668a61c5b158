"""A new atmosphere file from one's own mountains: the grid that their latitudes belong to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fathometer.apps.atmosphere.application import APPLICATION
from fathometer.apps.atmosphere.atmosphere_file import GridTable
from fathometer.apps.atmosphere.ground import read_heights
from fathometer.apps.atmosphere.solver.transform import Grid
from fathometer.base.errors import InputError
from fathometer.config.draft import Drafted, Found, gap
from fathometer.runs.given_files import GivenFile, roles_of
from fathometer.storage.datasets.reader import DatasetFile

WORDS = {"ground": ("ground", "orography", "orog", "topography", "topo", "altitude", "heights", "mountains")}
GROUND = "surface_altitude"  # where a file has it; else the only array over two dimensions


def draft(files: Sequence[GivenFile], target: Path) -> Drafted:
    """The keys of an atmosphere file at `target`. Raises InputError for a file that holds no heights on a grid."""
    found = roles_of(files, WORDS, APPLICATION.identity.given)
    keys: dict[str, Any] = {
        "start": {"kind": gap()},
        "levels": {"table": Found("cam26", "air; shallow water: without this section")},
        "time": {"end": gap("days")},
    }
    if "ground" in found:
        keys["grid"], keys["ground"] = _grid_and_ground(found["ground"], target.parent)
    return Drafted(keys, "atmosphere")


def _grid_and_ground(file: GivenFile, folder: Path) -> tuple[dict[str, Found], dict[str, Found]]:
    path, colon, name = file.reference.partition(".nc:")
    path = f"{path}.nc" if colon else file.reference
    with DatasetFile(Path(path)) as dataset:
        planes = [one for one, stored in dataset.header.variables.items() if len(stored.shape) == 2]
        name = name or (GROUND if GROUND in planes else planes[0] if len(planes) == 1 else "")
        if not name:
            listed = ", ".join(planes) or "none"
            raise InputError(f"{path}: found the arrays over two dimensions {listed}; needed: one, or {path}:NAME")
        latitudes, longitudes = dataset.variable(name).shape if name in planes else (0, 0)
    try:
        table = GridTable(truncation=(2 * latitudes - 1) // 3, latitudes=latitudes, longitudes=longitudes)
    except ValidationError:
        raise InputError(
            f"{path}:{name}: found {latitudes} x {longitudes} values; needed: latitudes and longitudes of a Gaussian "
            "grid, even numbers from 8 and 16 on, with about twice as many longitudes as latitudes"
        ) from None
    heights = read_heights(Path(path), name, Grid(table.truncation, latitudes, longitudes))
    beside = GivenFile("", path).beside(folder)
    return (
        {
            "truncation": Found(table.truncation, f"the most that {latitudes} latitudes carry without aliases"),
            "latitudes": Found(latitudes, f"of {Path(path).name}"),
            "longitudes": Found(longitudes, f"of {Path(path).name}"),
        },
        {
            "file": Found(beside, f"{heights.min():g} to {heights.max():g} m"),
            "variable": Found(name),
        },
    )
