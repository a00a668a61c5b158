"""What is shown of a flow: its fields on a plane through the middle of the box, on the page with a choice of the time
and in the picture at the end; energy, dissipation and divergence over the time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.flow.solver.sides import SIDES
from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.pictures import sheet
from fathometer.report.figures import COLOURS, POINT
from fathometer.report.missing import missing
from fathometer.report.scale import Values, spread
from fathometer.runs.application import Panel
from fathometer.shown.lines import Series, time_series_panel
from fathometer.shown.planes import Extent, Plane, planes_figure, planes_panel, thinned
from fathometer.storage.tecplot.reader import TecplotFile

if TYPE_CHECKING:
    from fathometer.apps.flow.flow_file import IncompressibleFile

PICTURE = "flow.png"
FIELDS = "Fields"
MOST_TIMES = 8
MOST_VALUES, ALL_VALUES = 400, 2_000_000  # along a side of a plane; of all together, so that the page stays small
PICTURE_VALUES = 1200  # along a side of a plane of the picture
LEAST_WIDTH = 420  # of a plane of the page, CSS pixels
LABELS: Mapping[str, tuple[str, str, bool]] = {  # with the unit; colours; whether around 0
    "vorticity": ("Vorticity (1/s)", "Viridis", False),
    "u": ("Velocity along x (m/s)", "RdBu", True),
    "v": ("Velocity along y (m/s)", "RdBu", True),
    "w": ("Velocity along z (m/s)", "RdBu", True),
    "p": ("Pressure over density (m²/s²)", "RdBu", True),
    "temperature": ("Temperature (K)", "Plasma", False),
}
SERIES = (
    Series("energy", "kinetic energy (m²/s²)", COLOURS["compute"], zero=True),
    Series("dissipation", "dissipation (m²/s³)", POINT, zero=True),
    Series("temperature", "mean temperature (K)", COLOURS["io"]),
    *(Series(f"heat_{side}", f"heat through {side} (K m/s)", COLOURS["io"]) for side in SIDES),
    Series("divergence", "largest divergence (1/s)", COLOURS["communication"], zero=True),
    Series("step_seconds", "time step (s)", COLOURS["compute"], zero=True),
)


def zones_of(folder: Path, names: Sequence[str]) -> Iterator[tuple[TecplotFile, int]]:
    """Files and the number of a zone in each, by time. Raises InputError where a file cannot be read."""
    for name in names:
        file = TecplotFile(folder / name)
        yield from ((file, zone) for zone in range(len(file.zones)))


def planes_of(
    grid: Mapping[str, Any], names: Mapping[str, str], zones: Sequence[tuple[TecplotFile, int]], most: int
) -> list[Plane]:
    """Fields on the plane of x and the last axis through the middle of the box, at most `most` values along a side.

    grid: the entry of the record. names: of variables in the files, by their own. Raises InputError for another grid.
    """
    shape, spacing, origin = grid["shape"], grid["spacing_metres"], grid["origin_metres"]
    last = len(shape) - 1
    extent = Extent(
        first=(origin[0] + 0.5 * spacing[0], origin[last] + 0.5 * spacing[last]),
        step=(spacing[0], spacing[last]),
        labels=("x (m)", f"{'xyz'[last]} (m)"),
        units=("m", "m"),
        borders=(
            (origin[0], origin[0] + shape[0] * spacing[0]),
            (origin[last], origin[last] + shape[last] * spacing[last]),
        ),
    )
    planes = []
    for variable, (label, colours, diverging) in LABELS.items():
        if variable not in names:
            continue
        parts, blocks = [], (1, 1)
        for file, zone in zones:
            found, blocks = thinned(_plane(file, zone, names[variable], shape), most)
            parts.append(found)
        # Vorticity and pressure grow without bound where a wall that moves meets one at rest.
        extent_of = extent.of_blocks(blocks)
        planes.append(Plane(label, tuple(parts), extent_of, blocks, colours, diverging, robust=True))
    return planes


def _plane(file: TecplotFile, zone: int, name: str, shape: Sequence[int]) -> Values:
    """Values (x, last axis) of a variable on the middle plane."""
    if file.zones[zone].nodes != (*shape, 1)[:3]:
        raise InputError(f"{file.path}: holds {file.zones[zone].nodes} nodes; needed: {(*shape, 1)[:3]}")
    found = file.read(zone, name)[0] if len(shape) == 2 else file.section(zone, name, shape[1] // 2)
    return np.asarray(found.T, np.float32)


def names_in(record: Mapping[str, Any]) -> dict[str, str]:
    """The names of variables in the files, by their own; from a record."""
    given = record["input"]["output"]["tecplot"].get("names", {})
    return {name: given.get(name, name) for name in record["results"]["variables"]}


def field_panels(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """Fields at some output times. Raises KeyError, TypeError and the like for a record that no run writes."""
    results = record["results"]
    files = results.get("field_files", [])
    if not files:
        return [missing(FIELDS, "the record names no fields that were written")]
    with ledger.file("fields", "read"):
        every = list(zones_of(folder, files))
        picked = [every[n] for n in spread(len(every), MOST_TIMES)]
        names = names_in(record)
        size = min(MOST_VALUES, math.isqrt(ALL_VALUES // (max(1, len(names)) * len(picked))))
        planes = planes_of(results["grid"], names, picked, size)
    times = [file.zones[zone].time for file, zone in picked]
    return [
        planes_panel("fields", FIELDS, planes, times, "no value", first=[_where(results["grid"])], least=LEAST_WIDTH)
    ]


def _where(grid: Mapping[str, Any]) -> str:
    if len(grid["shape"]) == 2:
        return ""
    place = grid["origin_metres"][1] + (grid["shape"][1] // 2 + 0.5) * grid["spacing_metres"][1]
    return f"At y = {place:.4g} m."


def draw(file: IncompressibleFile, grid: Mapping[str, Any], files: Sequence[str]) -> Path:
    """Draw the fields at the last time, on one rank; the picture's path.

    Raises FathometerError where a file cannot be read, or the picture cannot be written.
    """
    folder = file.output_directory
    names = {name: file.output.tecplot.names.get(name, name) for name in file.variables}
    last = list(zones_of(folder, files[-1:]))[-1:]
    planes = planes_of(grid, names, last, PICTURE_VALUES)
    path = folder / PICTURE
    first = [where] if (where := _where(grid)) else []
    sheet.save(
        planes_figure(file.path.stem, planes, [one.zones[zone].time for one, zone in last], "no value", first=first),
        path,
    )
    return path


def course_panel(record: Mapping[str, Any]) -> Panel:
    """The time series. Raises ValueError where there are no rows."""
    return time_series_panel(
        record, [one for one in SERIES if all(one.key in row for row in record["results"]["course"])]
    )
