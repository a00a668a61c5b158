"""The reference system of a volume in a file by others: its name, and whether the file's coordinates are in it.

Conventions: what CF, GDAL and rioxarray write, the variable that grid_mapping names, with crs_wkt, spatial_ref or
epsg_code, beside coordinates with the standard names projection_x_coordinate and projection_y_coordinate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fathometer.storage.traces.reference_system import tidy_crs
from fathometer.storage.volumes.axis_labels import axis_of
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.axis_metadata import Dimension
from fathometer.storage.volumes.formats.place_metadata import CRS, text_of
from fathometer.storage.volumes.place import World

CRS_NAMES = ("crs_wkt", "spatial_ref", "epsg_code", "epsg", "proj4", "proj4text", "proj4_params")
MAPPING, MAPPING_NAME = "grid_mapping", "grid_mapping_name"
PROJECTED = {"projection_x_coordinate": "x", "projection_y_coordinate": "y"}  # axes by CF's standard names
UNPROJECTED = re.compile(r"(LOCAL_CS|ENG(INEERING)?CRS|GEO\w+)\s*\[", re.IGNORECASE)  # WKT of systems of other kinds
ANGLES = re.compile(r"(rotated_)?latitude_longitude")  # grid mappings without a projection


def in_system(
    info: VolumeInfo,
    attributes: Any,
    variable: Callable[[str], Any],
    of_file: Any,
    dimensions: Sequence[Dimension],
) -> VolumeInfo:
    """The same with the name of the system, where it has none, and with its x and y as those of the world, where the
    file states that they are coordinates of a projection and no attribute places them elsewhere.

    Args:
        attributes: of the volume. variable: the attributes of a variable by its name; None: there is none.
        of_file: attributes of the file or group. dimensions: of the array.
    """
    place = info.place
    crs = place.crs or _mapped_crs(attributes, variable, of_file)
    world = place.world
    if world is None and not UNPROJECTED.match(crs) and _projected(attributes, variable, dimensions) and _both(info):
        world = World()
    return replace(info, place=replace(place, crs=crs, world=world))


def _mapped_crs(attributes: Any, variable: Callable[[str], Any], of_file: Any) -> str:
    """The name of the system in a file by others; "" where there is none. Arguments as of `in_system`."""
    if text := tidy_crs(text_of(attributes.get(CRS))):
        return text
    for source in (variable(_mapping(attributes)), attributes, variable("crs"), variable("spatial_ref")):
        if source is not None and (text := _system(source)):
            return text
    return tidy_crs(text_of(of_file.get(CRS))) or _system(of_file)


def _mapping(attributes: Any) -> str:
    """The name of the first grid mapping of an array; "": it has none."""
    return next(iter(text_of(attributes.get(MAPPING)).partition(":")[0].split()), "")


def _projected(attributes: Any, variable: Callable[[str], Any], dimensions: Sequence[Dimension]) -> bool:
    """Whether an array has a grid mapping that is there, and dimensions with coordinates of a projection, x and y."""
    mapping = variable(_mapping(attributes))
    if mapping is None or ANGLES.fullmatch(text_of(mapping.get(MAPPING_NAME))):
        return False
    found = {
        dimension.name: (PROJECTED[name], axis_of(dimension.name))
        for dimension in dimensions
        if (name := text_of(dimension.attributes.get("standard_name"))) in PROJECTED
    }
    _, several, names = text_of(attributes.get(MAPPING)).partition(":")  # "mapping: x y other: lat lon"
    if several and not set(found) <= set(names.partition(":")[0].split()):
        return False
    # A name that means another axis than the standard name is not followed by the reader either.
    return sorted(axis for axis, _ in found.values()) == ["x", "y"] and all(
        own in ("", axis) for axis, own in found.values()
    )


def _both(info: VolumeInfo) -> bool:
    """Whether coordinates along x and y are known."""
    steps, firsts = info.spacing or info.partial, info.origin or info.firsts
    known = zip(info.labels or (), steps, firsts, strict=False)
    return {axis_of(label) for label, step, first in known if None not in (step, first)} >= {"x", "y"}


def _system(attributes: Mapping[str, Any]) -> str:
    for name in CRS_NAMES:
        value = attributes.get(name)
        if value is None:
            continue
        text = tidy_crs(text_of(value) or str(np.asarray(value).reshape(-1)[0] if np.size(value) else ""))
        if text:
            return f"EPSG:{text}" if text.isdigit() else text
    return ""
