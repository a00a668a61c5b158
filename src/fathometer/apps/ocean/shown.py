"""What is shown of an ocean: maps of the surface and a section of temperature, on the page with a choice of the time,
in the picture at the end with currents; and its time series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.ocean.field_maps import FieldFile, MapKind
from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.formatting import time_text
from fathometer.pictures import sheet
from fathometer.report.figures import COLOURS, POINT
from fathometer.report.missing import missing
from fathometer.report.scale import Values, spread
from fathometer.runs.application import Panel
from fathometer.shown.lines import Series, time_series_panel
from fathometer.shown.planes import Plane, planes_figure, planes_panel, thinned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fathometer.apps.ocean.case import OceanCase

PICTURE = "ocean.png"
MAPS, SECTION = "Maps of the surface", "Section"
MOST_TIMES = 8
MOST_VALUES, ALL_VALUES = 400, 2_000_000  # along a side of a map; of all together, so that the page stays small
PICTURE_VALUES = 1200  # along a side of a map of the picture
PICTURE_MAPS = 4  # with the section
WIDTH = 4.6  # inches of a panel of the picture
LEAST_WIDTH = 420  # of a map of the page, CSS pixels
SVERDRUP = 1e6  # m³/s
LEAST_SVERDRUPS = 0.1  # of the largest flow: below that the unit is m³/s
SERIES = (
    Series("kinetic_energy_joules", "kinetic energy (J)", COLOURS["compute"], zero=True),
    Series("mean_temperature", "mean temperature (°C)", POINT),
    Series("mean_salinity", "mean salinity", COLOURS["io"]),
    Series("largest_speed", "largest speed (m/s)", COLOURS["compute"], zero=True),
    Series("largest_courant", "largest Courant number", COLOURS["communication"], zero=True),
    Series("iterations", "iterations of a step", COLOURS["communication"], zero=True),
)


@dataclass
class Shown:
    """Planes of some field files: maps, and the section where there is one; times of the files that could be read, s;
    names of others, and what is wrong with them."""

    maps: list[Plane] = field(default_factory=list)
    section: Plane | None = None
    place: str = ""  # of the section
    times: list[float] = field(default_factory=list)
    gone: dict[str, str] = field(default_factory=dict)


def shown_of(folder: Path, names: Sequence[str], shape: Sequence[int], most: int, arrows: bool = False) -> Shown:
    """What files in a folder hold, at most `most` values along a side. arrows: with currents on the height."""
    found, maps, sections = Shown(), [], []
    with ledger.file("fields", "read"):
        for name in names:
            try:
                with FieldFile(folder / name, shape) as file:
                    maps.append([(kind, *thinned(file.map(kind), most), file.extent(kind)) for kind in file.kinds()])
                    sections.append(file.section())
                    found.times.append(file.time)
                    currents = file.arrows() if arrows else None
            except (FathometerError, OSError) as error:
                found.gone[str(name)] = str(error)
    for number, (kind, _, blocks, extent) in enumerate(maps[-1] if maps else ()):
        parts = tuple(one[number][1] for one in maps)
        plane = Plane(kind.label, parts, extent.of_blocks(blocks), blocks, kind.colours)
        plane = replace(_in_units(plane, kind), diverging=kind.diverging, contours=kind.name == "streamfunction")
        found.maps.append(replace(plane, arrows=currents) if kind.name == "height" else plane)
    if sections and (last := sections[-1]) is not None:
        thin = [thinned(one.values, max(most, one.values.shape[1])) for one in sections if one is not None]
        blocks = thin[-1][1]
        parts = tuple(part for part, _ in thin)
        found.section = Plane("Temperature (°C)", parts, last.extent.of_blocks(blocks), blocks, "Plasma")
        found.place = last.title
    return found


def _in_units(plane: Plane, kind: MapKind) -> Plane:
    """The name with its unit: flows of some size in Sverdrups."""
    unit, parts = kind.unit, plane.parts
    if kind.name == "streamfunction" and _largest(parts[-1]) >= LEAST_SVERDRUPS * SVERDRUP:
        unit, parts = "Sv", tuple((part / np.float32(SVERDRUP)).astype(np.float32) for part in parts)
    return replace(plane, name=f"{plane.name} ({unit})" if unit else plane.name, parts=parts)


def _largest(values: Values) -> float:
    return float(np.nanmax(np.abs(values), initial=0.0))


def map_panels(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """Maps and the section at some output times, and why those of others are missing.

    folder: where the record lies. Raises KeyError, TypeError and the like for a record that no run writes.
    """
    results = record["results"]
    names, shape = results.get("field_files", []), results["grid"]["shape"]
    if not names:
        return [missing(MAPS, "the record names no fields that were written")]
    picked = [names[n] for n in spread(len(names), MOST_TIMES)]
    size = min(MOST_VALUES, math.isqrt(ALL_VALUES // (6 * len(picked))))
    shown = shown_of(folder, picked, shape, size)
    panels = [missing(name, reason) for name, reason in shown.gone.items()]
    if shown.section is not None:
        at = [f"At {shown.place}."]
        section = planes_panel(
            "section", SECTION, [shown.section], shown.times, "land and the bottom", first=at, least=LEAST_WIDTH
        )
        panels.insert(0, section)
    if shown.maps:
        panels.insert(0, planes_panel("maps", MAPS, shown.maps, shown.times, "land", least=LEAST_WIDTH))
    return panels


def draw(case: OceanCase, fields: Path) -> Path:
    """Draw the fields of a file, on one rank; returns the picture's path.

    Raises FathometerError where the file cannot be read, or the picture cannot be written.
    """
    path = case.file.output_directory / PICTURE
    shown = shown_of(fields.parent, [fields.name], case.problem.grid.shape, PICTURE_VALUES, arrows=True)
    for reason in shown.gone.values():
        raise FathometerError(reason)
    sheet.save(ocean_figure(shown, case.file.path.stem), path)
    return path


def ocean_figure(shown: Shown, subject: str) -> Figure:
    """The figure that `draw` writes: height with currents, temperature at the surface and on a section, and the
    streamfunction, as far as the fields have them."""
    section = [] if shown.section is None else [shown.section]
    maps = shown.maps[: PICTURE_MAPS - len(section)]
    if not maps:
        title = f"{subject} at {time_text(shown.times[-1])}"
        with sheet.style():
            return sheet.sheet(6.0, 1.2, title, 0.0, "No fields of the surface were written.")
    at = [replace(one, name=f"{one.name} at {shown.place}") for one in section]
    planes = [*maps[:2], *at, *maps[2:]]
    columns = 1 if len(planes) == 1 else 2
    return planes_figure(subject, planes, shown.times, "land", width=WIDTH, columns=columns)


def course_panel(record: Mapping[str, Any]) -> Panel:
    """The time series. Raises ValueError where there are no rows."""
    return time_series_panel(record, SERIES)
