"""The fields of an ocean that are written: names, units and axes after the CF conventions 1.8.

A coordinate of corners (U points) is named as that of centres, with _u: x_u, longitude_u, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fathometer.apps.ocean.grid import Floats, OceanGrid
from fathometer.storage.datasets.dataset import FILL, FILL_VALUE, Attribute, Dataset, Variable

KINDS = ("temperature", "salinity", "tracers", "velocity", "vertical_velocity", "height", "streamfunction")
TIME_UNITS = "seconds since 0001-01-01 00:00:00"
CALENDAR = "365_day"


@dataclass(frozen=True)
class Field:
    """A field.

    Attributes:
        kind: one of KINDS. name: of the variable in the file. array: of the state that it is made of, by its name
            there. levels: "depth" at the middle of levels, "depth_w" at their upper interfaces, "" where it has none.
        corner: whether its values lie at U points. attributes: of the variable.
    """

    kind: str
    name: str
    array: str
    levels: str
    corner: bool
    attributes: Mapping[str, str]


def fields_of(kinds: Sequence[str], tracers: Sequence[str] = (), spherical: bool = False) -> list[Field]:
    """The fields of some kinds, in their order. tracers: names of those other than temperature and salinity."""
    found = []
    for kind in kinds:
        match kind:
            case "temperature":
                found.append(_field(kind, "temperature", "sea_water_potential_temperature", "degC"))
            case "salinity":
                found.append(_field(kind, "salinity", "sea_water_practical_salinity", "1"))
            case "tracers":
                found += [Field(kind, name, name, "depth", False, _attributes("", name, "1")) for name in tracers]
            case "velocity":
                for name, plane, sphere in (("u", "x", "eastward"), ("v", "y", "northward")):
                    standard = f"{sphere}_sea_water_velocity" if spherical else f"sea_water_{plane}_velocity"
                    found.append(_field(kind, name, standard, "m s-1", corner=True))
            case "vertical_velocity":
                found.append(_field(kind, "w", "upward_sea_water_velocity", "m s-1", levels="depth_w"))
            case "height":
                standard = "sea_surface_height_above_geoid"
                found.append(_field(kind, "surface_height", standard, "m", array="eta", levels=""))
            case "streamfunction":
                words = "positive where water turns clockwise"
                attributes = _attributes("ocean_barotropic_streamfunction", words, "m3 s-1")
                found.append(Field(kind, kind, "u", "", True, attributes))
    return found


def _field(
    kind: str, name: str, standard: str, unit: str, array: str = "", levels: str = "depth", corner: bool = False
) -> Field:
    return Field(kind, name, array or name, levels, corner, _attributes(standard, standard.replace("_", " "), unit))


def _attributes(standard: str, long: str, unit: str) -> dict[str, str]:
    named = {"standard_name": standard} if standard else {}
    return named | {"long_name": long, "units": unit, "cell_methods": "time: point"}


def axes_of(grid: OceanGrid) -> tuple[str, str]:
    """Names of the horizontal axes, the second one (of y) first, as in files."""
    return ("latitude", "longitude") if grid.spherical else ("y", "x")


def corners(centres: Floats) -> Floats:
    """Coordinates of the corners behind some equally spaced centres."""
    step = centres[1] - centres[0] if len(centres) > 1 else 0.0
    return np.append(0.5 * (centres[1:] + centres[:-1]), centres[-1] + 0.5 * step)


def dataset_of(grid: OceanGrid, fields: Sequence[Field], time: float, attributes: Mapping[str, Attribute]) -> Dataset:
    """What the file of a time holds; the fields' values come from the ranks. time: s; attributes: of the file."""
    nx, ny, nz = grid.shape
    y, x = axes_of(grid)
    dimensions = {"time": 1, "depth": nz, y: ny, x: nx}
    variables = [
        Variable(
            "time",
            ("time",),
            "f8",
            {"standard_name": "time", "long_name": "time", "units": TIME_UNITS, "calendar": CALENDAR, "axis": "T"},
            np.array([time]),
        ),
        Variable("depth", ("depth",), "f8", _depth("depth") | {"bounds": "depth_bounds"}, _middles(grid)),
        Variable("depth_bounds", ("depth", "bounds"), "f8", {}, np.stack([grid.bottoms[:-1], grid.bottoms[1:]], 1)),
        *_horizontal(grid, ""),
    ]
    dimensions["bounds"] = 2
    if any(field.corner for field in fields):
        dimensions |= {f"{y}_u": ny, f"{x}_u": nx}
        variables += _horizontal(grid, "_u")
    if any(field.levels == "depth_w" for field in fields):
        dimensions["depth_w"] = nz
        variables.append(Variable("depth_w", ("depth_w",), "f8", _depth("upper interface"), grid.bottoms[:-1]))
    floor = np.where(grid.levels > 0, grid.depth, FILL_VALUE).astype(np.float32)
    variables += [
        Variable(
            "levels",
            (y, x),
            "i4",
            {"standard_name": "model_level_number_at_sea_floor", "long_name": "levels of water, 0 on land"},
            grid.levels.T,
        ),
        Variable(
            "sea_floor_depth",
            (y, x),
            "f4",
            {FILL: FILL_VALUE, "standard_name": "sea_floor_depth_below_geoid", "units": "m"},
            floor.T,
        ),
    ]
    for field in fields:
        suffix = "_u" if field.corner else ""
        axes = ("time", *((field.levels,) if field.levels else ()), y + suffix, x + suffix)
        variables.append(Variable(field.name, axes, "f4", {FILL: FILL_VALUE, **field.attributes}))
    return Dataset(dimensions, variables, {"Conventions": "CF-1.8", **attributes})


def _middles(grid: OceanGrid) -> Floats:
    return 0.5 * (grid.bottoms[:-1] + grid.bottoms[1:])


def _depth(words: str) -> dict[str, str]:
    return {"standard_name": "depth", "long_name": words, "units": "m", "positive": "down", "axis": "Z"}


def _horizontal(grid: OceanGrid, suffix: str) -> list[Variable]:
    """The coordinates of cells' centres, or of their corners."""
    found = []
    for name, axis, unit, values in zip(
        axes_of(grid), "YX", ("degrees_north", "degrees_east"), (grid.y, grid.x), strict=True
    ):
        words = f"{name} of corners" if suffix else name
        attributes = {"long_name": words, "units": unit if grid.spherical else "m", "axis": axis}
        if grid.spherical:
            attributes["standard_name"] = name
        places = corners(values) if suffix else np.asarray(values)
        found.append(Variable(name + suffix, (name + suffix,), "f8", attributes, places))
    return found
