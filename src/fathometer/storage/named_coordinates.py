"""Coordinates of the cells of a volume by name, as xarray has them: along its axes, and in the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.volumes.axis_labels import axis_of
from fathometer.storage.volumes.block import Volume, VolumeInfo
from fathometer.storage.volumes.formats.axis_metadata import axis_names, coordinate_attributes, coordinates
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.place import World

WORLD = {
    "X": {"units": "m", "long_name": "easting", "standard_name": "projection_x_coordinate"},
    "Y": {"units": "m", "long_name": "northing", "standard_name": "projection_y_coordinate"},
}


@dataclass(frozen=True)
class Along:
    """Coordinates (cells,) along an axis of a volume, with their attributes."""

    values: NDArray[Any]
    attributes: dict[str, str]


@dataclass(frozen=True)
class InWorld:
    """One coordinate of the world, X or Y (m): the sum of `parts`, one (cells,) for each of one or two axes."""

    axes: tuple[int, ...]  # numbers of the volume's axes, the slower first
    parts: tuple[NDArray[np.float64], ...]
    attributes: dict[str, str]


def along_axes(volume: Volume) -> dict[str, Along]:
    """What is known along each axis, by its name: metres, seconds, or numbers of lines."""
    info = volume.info
    names = axis_names(info)
    if info.spacing is not None:
        return {
            name: Along(coordinates(info, axis), coordinate_attributes(info, axis)) for axis, name in enumerate(names)
        }
    found: dict[str, Along] = {}
    last = len(names) - 1
    if isinstance(volume, SegyVolume):
        found = {name: Along(numbers, {"long_name": f"{name} number"}) for name, numbers in volume.lines.items()}
        steps = volume.times if info.in_time else volume.depths
        if steps is not None:
            found[names[last]] = Along(_regular(*steps, info.shape[last]), coordinate_attributes(info, last))
    for axis, (first, step) in enumerate(zip(info.firsts, info.partial, strict=False)):
        if first is not None and step is not None:
            found[names[axis]] = Along(_regular(first, step, info.shape[axis]), coordinate_attributes(info, axis))
    return found


def in_world(info: VolumeInfo) -> dict[str, InWorld]:
    """X and Y of the world, where the volume says where it lies."""
    if info.survey is not None:
        axes = tuple(range(len(info.survey.spacing)))
        along = [
            tuple(_regular(0.0, metres * one, cells) for one in World(azimuth=azimuth).direction)
            for metres, azimuth, cells in zip(info.survey.spacing, info.survey.azimuths, info.shape, strict=False)
        ]
        origin = info.survey.origin
    elif info.place.world is not None and info.spacing is not None:
        kinds = [axis_of(name) for name in axis_names(info)]
        axes = tuple(axis for axis, kind in enumerate(kinds) if kind in ("x", "y"))
        if "x" not in kinds or len(axes) > 2 or len({kinds[axis] for axis in axes}) < len(axes):
            return {}
        sine_x, minus, _, cosine_x, sine_y, _ = info.place.world.transform
        directions = {"x": (sine_x, cosine_x), "y": (minus, sine_y)}
        along = [tuple(part * coordinates(info, axis) for part in directions[kinds[axis]]) for axis in axes]
        origin = info.place.world.origin
    else:
        return {}
    found = {}
    for number, (name, attributes) in enumerate(WORLD.items()):
        parts = [part[number] for part in along]
        found[name] = InWorld(axes, (origin[number] + parts[0], *parts[1:]), attributes)
    return found


def _regular(first: float, step: float, cells: int) -> NDArray[np.float64]:
    return np.asarray(first + step * np.arange(cells), np.float64)
