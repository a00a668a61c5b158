"""A new ocean file from one's own files: the grid of the bathymetry, which way it counts, what else lies on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fathometer.apps.ocean.application import APPLICATION
from fathometer.apps.ocean.degrees import degrees_along, only_array
from fathometer.apps.ocean.grid import Floats
from fathometer.apps.ocean.value_units import scale_of
from fathometer.apps.ocean.volume_files import GridVolume, axes_of_labels
from fathometer.base.errors import InputError
from fathometer.config.draft import Drafted, Found, gap
from fathometer.runs.given_files import GivenFile, role_by_words, roles_of
from fathometer.storage.describe import VolumeDescription, describe

WORDS: Mapping[str, Sequence[str]] = {  # in names of files and variables
    "bathymetry": (
        *("bathymetry", "bathy", "depth", "depths", "topo", "topography", "elevation", "gebco", "etopo", "deptho"),
        *("h", "floor"),
    ),
    "mask": ("mask", "lsm", "tmask"),
    "temperature": ("temperature", "temp", "theta", "thetao", "t", "sst"),
    "salinity": ("salinity", "salt", "so", "s"),
    "height": ("height", "ssh", "zos", "eta"),
    "tau_x": ("taux", "tauu", "tauuo"),
    "tau_y": ("tauy", "tauv", "tauvo"),
    "heat_flux": ("heat", "qnet", "hfds", "flux"),
}
QUANTITIES = {  # of value_units.SCALES
    "mask": "mask",
    "temperature": "temperature",
    "salinity": "salinity",
    "height": "length",
    "tau_x": "stress",
    "tau_y": "stress",
    "heat_flux": "flux",
}
INTERNAL = 3.0  # m/s, of the fastest internal wave of an ocean
EVEN = 1e-3  # relative: of the distances of coordinates


def draft(files: Sequence[GivenFile], target: Path) -> Drafted:
    """The keys of an ocean file at `target`.

    Raises InputError for a file that cannot be read, one of which it is not known what it is, values that no depths
    are, and files whose cells are not those of the others.
    """
    found = roles_of([_named(file) for file in files], WORDS, APPLICATION.identity.given)
    keys: dict[str, Any] = {"time": {"step": gap(), "end": gap("or `steps` in its place")}}
    first = found.get("bathymetry") or next(iter(found.values()), None)
    if first is None:
        keys["grid"] = {"levels": {"count": gap(), "depth": gap()}}
        return Drafted(keys, "ocean")
    described = _described(first)
    axes = _axes(described)
    cells = {axis: n for axis, n in zip(axes, described.shape, strict=True)}
    grid, metres = _grid(first, described, axes, cells)
    keys["grid"] = grid
    if metres:
        keys["time"]["step"] = gap(f"internal waves of {INTERNAL:g} m/s allow about {0.5 * metres / INTERNAL:.2g} s")
    deepest = None
    if "bathymetry" in found:
        keys["bathymetry"], deepest = _bathymetry(found, described, axes, target.parent)
    keys["grid"]["levels"] = _levels(found, described if first.role == "temperature" else None, deepest)
    keys |= _fields(found, (cells["x"], cells["y"]), grid, target.parent)
    return Drafted(keys, "ocean")


def _named(file: GivenFile) -> GivenFile:
    """A file with what it is by the name of its only array, where its own name does not tell."""
    if file.role or role_by_words(file, WORDS):
        return file
    return GivenFile(role_by_words(GivenFile("", only_array(file.reference)), WORDS), file.reference)


def _described(file: GivenFile) -> VolumeDescription:
    found = describe(file.reference, Path())
    if not isinstance(found, VolumeDescription):
        raise InputError(f"{file.reference}: found {found.kind}; allowed in a new ocean file: volumes over x, y, (z)")
    return found


def _axes(found: VolumeDescription) -> str:
    """The axes of a file, slowest first: by its labels, else x, y, (z)."""
    axes = axes_of_labels(found.labels) or "xyz"[: len(found.shape)]
    if not {"x", "y"} <= set(axes):
        names = ", ".join(found.labels or ())
        raise InputError(f"{found.path}: found the axes {names}; needed: x and y, or longitude and latitude")
    return axes


def _grid(
    file: GivenFile, found: VolumeDescription, axes: str, cells: Mapping[str, int]
) -> tuple[dict[str, Any], float | None]:
    """The keys of [grid] but levels, and the size of the smallest cell, m, where it is known."""
    named = axes_of_labels(found.labels) is not None
    said = "" if named else f"; {found.path.name} does not name its axes: taken as {', '.join(axes)}"
    keys: dict[str, Any] = {"cells": Found([cells["x"], cells["y"]], f"of {found.path.name}{said}")}
    degrees = {axis: degrees_along(file.reference, axes.index(axis)) for axis in "xy"}
    if (east := degrees["x"]) is not None and (north := degrees["y"]) is not None:
        return keys | _sphere(file, east, north), None
    spacing = found.spacing
    if spacing is None:
        return keys | {"spacing": gap(f"{found.path.name} carries none: [dx, dy], m")}, None
    dx, dy = (_rounded(spacing[axes.index(axis)]) for axis in "xy")
    keys["spacing"] = Found([dx, dy], f"m, of {found.path.name}")
    if found.origin is not None:
        corner = [_rounded(found.origin[axes.index(a)] - d / 2) for a, d in (("x", dx), ("y", dy))]
        keys["origin"] = Found(corner, f"m: half a cell before the first values of {found.path.name}")
    return keys, min(dx, dy)


def _sphere(file: GivenFile, east: Floats, north: Floats) -> dict[str, Any]:
    """The keys of longitudes and latitudes, degrees. Raises InputError where they are not evenly spaced."""
    steps = []
    for name, values in (("longitudes", east), ("latitudes", north)):
        differences = np.diff(values)
        step = float(np.mean(differences)) if len(values) > 1 else 0.0
        if not step > 0 or np.ptp(differences) > EVEN * step:
            raise InputError(
                f"{file.reference}: found {name} from {values[0]:g} to {values[-1]:g} degrees, not in equal steps; "
                "needed: a grid of equal steps from west to east and from south to north"
            )
        steps.append(_rounded(step))
    corner = [_rounded(float(values[0]) - step / 2) for values, step in zip((east, north), steps, strict=True)]
    around = abs(len(east) * steps[0] - 360) < 1e-6
    return {
        "kind": Found("sphere", "its coordinates are in degrees"),
        "spacing": Found(steps, "degrees"),
        "origin": Found(corner, "degrees: half a cell before the first values"),
        **({"periodic": Found(True, "it goes around the earth")} if around else {}),
    }


def _bathymetry(
    found: Mapping[str, GivenFile], described: VolumeDescription, axes: str, folder: Path
) -> tuple[dict[str, Any], float]:
    """The keys of [bathymetry], and the largest depth, m. Raises InputError for values that no depths are."""
    file, values = found["bathymetry"], described.values
    if len(described.shape) != 2:
        raise InputError(f"{file.reference}: found {len(described.shape)} axes; needed: depths over x and y")
    if values.nan and "mask" not in found:
        raise InputError(
            f"{file.reference}: found NaN in {values.nan} cells; needed: 0 on land, or mask=FILE (1: water, 0: land)"
        )
    factor, _ = scale_of(file.reference, "length", described.unit)
    low, high = factor * (values.minimum or 0.0), factor * (values.maximum or 0.0)
    up = low < 0
    deepest = -low if up else high
    if not deepest > 0:
        raise InputError(f"{file.reference}: found {low:g} to {high:g} m; needed: depths above 0, or heights below 0")
    keys = {
        "kind": Found("file"),
        "file": Found(file.beside(folder), f"{low:g} to {high:g} m"),
        "positive": Found("up" if up else "down", "heights: values below 0 are water" if up else "depths"),
    }
    if "mask" in found:
        keys["mask"] = Found(found["mask"].beside(folder))
    return keys, deepest


def _levels(
    found: Mapping[str, GivenFile], temperature: VolumeDescription | None, deepest: float | None
) -> dict[str, Found]:
    """The keys of [grid] levels: as many as a 3D file has, down to the largest depth."""
    for name in ("temperature", "salinity"):
        if name not in found:
            continue
        described = temperature or _described(found[name])
        if len(described.shape) == 3:
            count = described.shape[_axes(described).index("z")]
            depth = Found(_rounded(deepest), "the largest depth") if deepest else gap()
            return {"count": Found(count, f"of {described.path.name}"), "depth": depth}
    return {
        "count": gap("levels; more of them are slower and show more"),
        "depth": Found(_rounded(deepest), "the largest depth") if deepest else gap(),
    }


def _fields(
    found: Mapping[str, GivenFile], cells: tuple[int, int], grid: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """The keys of [initial] and [forcing]. Raises InputError for a file on another grid, and for an unknown unit."""
    plane = "kind" not in grid and grid["spacing"].value
    spacing = plane if isinstance(plane, list) else ()
    keys: dict[str, Any] = {}
    for name, quantity in QUANTITIES.items():
        if name not in found:
            continue
        file = found[name]
        described = _described(file)
        deep = name in ("temperature", "salinity")
        if len(described.shape) != (3 if deep else 2):
            wanted = "3 axes, x, y, z" if deep else "2 axes, x, y"
            raise InputError(f"{file.reference}: found {len(described.shape)} axes for {name}; needed: {wanted}")
        levels = (described.shape[_axes(described).index("z")],) if deep else ()
        GridVolume(name, file.reference, Path(), None, (*cells, *levels), spacing, quantity).close()
        low, high = described.values.minimum, described.values.maximum
        value = Found(file.beside(folder), f"{low:g} to {high:g} {described.unit or ''}".strip())
        if deep:
            keys.setdefault("initial", {})[name] = {"file": value}
        elif name == "height":
            keys.setdefault("initial", {})["surface_height"] = {"kind": Found("file"), "file": value}
        elif name.startswith("tau"):
            keys.setdefault("forcing", {}).setdefault("wind", {"kind": Found("file")})[name] = value
        elif name == "heat_flux":
            keys.setdefault("forcing", {})[name] = {"file": value}
    return keys


def _rounded(value: float) -> float:
    """Without the noise of float32."""
    return float(f"{value:.9g}")
