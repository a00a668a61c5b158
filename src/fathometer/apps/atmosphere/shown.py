"""What is shown of an atmosphere: maps, zonal means over latitude and pressure, and the spectrum of kinetic energy; its
time series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.pictures import sheet
from fathometer.report.figures import COLOURS, POINT
from fathometer.report.missing import missing
from fathometer.report.scale import spread
from fathometer.runs.application import Panel
from fathometer.shown.lines import Lines, Series, lines_panel, time_series_panel
from fathometer.shown.planes import Extent, Plane, planes_figure, planes_panel, thinned
from fathometer.storage.datasets.reader import DatasetFile

Floats = npt.NDArray[np.float64]
PICTURE = "atmosphere.png"
MAPS, ZONAL = "Maps", "Zonal means"
MOST_TIMES, MOST_VALUES, PICTURE_VALUES = 10, 200, 1200  # times of the page; along a side of a map
LEVEL = 0.85  # nominal pressure over 1000 hPa of maps of what has levels
SERIES = (
    Series("least_pressure_Pa", "least surface pressure (hPa)", COLOURS["compute"], size=100.0),
    Series("largest_pressure_Pa", "largest surface pressure (hPa)", COLOURS["compute"], size=100.0),
    Series("least_depth_m", "least depth (m)", COLOURS["compute"]),
    Series("largest_depth_m", "largest depth (m)", COLOURS["compute"]),
    Series("largest_speed", "largest wind (m/s)", POINT, zero=True),
    Series("longwave_to_space", "longwave to space (W/m²)", POINT),
    Series("absorbed_shortwave", "absorbed shortwave (W/m²)", COLOURS["communication"]),
    Series("layers_joined", "layers joined by convection, a column", COLOURS["io"], zero=True),
    Series("kinetic_energy", "kinetic energy (J/m²)", COLOURS["io"], zero=True),
)


@dataclass(frozen=True)
class Kind:
    """A field: its name in files, label with the unit, what values are divided by, colours, whether these have their
    middle at 0."""

    name: str
    label: str
    size: float
    colours: str
    diverging: bool = False


KINDS = (
    Kind("surface_pressure", "Surface pressure (hPa)", 100.0, "Viridis"),
    Kind("depth", "Depth (m)", 1.0, "Viridis"),
    Kind("vorticity", "Vorticity (10⁻⁵/s)", 1e-5, "RdBu", True),
    Kind("temperature", "Temperature (K)", 1.0, "Plasma"),
    Kind("u", "Wind to the east (m/s)", 1.0, "RdBu", True),
)


@dataclass(frozen=True, eq=False)
class Seen:
    """Of a file: fields [latitude, longitude] at the surface or a level, means [latitude, level] along longitude, by
    name. level: nominal pressure, hPa, of the maps. edges: of levels, hPa; none of shallow water."""

    maps: dict[str, Floats]
    means: dict[str, Floats]
    level: float
    edges: Floats


def kinds_of(results: Mapping[str, Any]) -> tuple[Kind, ...]:
    """Fields that are shown of a run, with its tracers."""
    return KINDS + tuple(Kind(name, f"{name} (1)", 1.0, "Viridis") for name in results.get("tracers", ()))


def seen_of(path: Path, kinds: Sequence[Kind] = KINDS) -> Seen:
    """What a file shows, of some fields. Raises InputError where it cannot be read."""
    maps, means, nominal, edges = {}, {}, 0.0, np.zeros(0)
    with DatasetFile(path) as file:
        number = 0
        if "level" in file.header.variables:
            levels = np.asarray(file.read("level"))
            number = int(np.argmin(np.abs(levels - LEVEL)))
            nominal = 1000 * float(levels[number])
            edges = 1000 * np.asarray(file.read("interface"), np.float64)
        for kind in kinds:
            if kind.name not in file.header.variables:
                continue
            values = np.asarray(file.read(kind.name)[0], np.float64) / kind.size
            maps[kind.name] = values[number].copy() if values.ndim == 3 else values  # without the other levels
            if values.ndim == 3:
                means[kind.name] = values.mean(axis=2).T
    return Seen(maps, means, nominal, edges)


def _maps(seen: Sequence[Seen], most: int, kinds: Sequence[Kind]) -> list[Plane]:
    """Maps at some times."""
    found = []
    for kind in kinds:
        if kind.name not in seen[-1].maps:
            continue
        parts = [thinned(one.maps[kind.name].T, most) for one in seen]
        rows = seen[-1].maps[kind.name].shape
        steps = (360 / rows[1], 180 / rows[0])
        extent = Extent(
            first=(0.0, -90 + 0.5 * steps[1]),
            step=steps,
            labels=("longitude (°)", "latitude (°)"),
            units=("°", "°"),
            borders=((-0.5 * steps[0], 360 - 0.5 * steps[0]), (-90.0, 90.0)),
        )
        blocks = parts[0][1]
        where = f", {seen[-1].level:.0f} hPa" if kind.name in seen[-1].means else ""
        label = kind.label.replace(" (", f"{where} (", 1)
        found.append(
            Plane(
                label,
                tuple(part for part, _ in parts),
                extent.of_blocks(blocks),
                blocks,
                kind.colours,
                kind.diverging,
            )
        )
    return found


def _zonal(seen: Sequence[Seen], kinds: Sequence[Kind]) -> list[Plane]:
    """Means along longitude over latitude and pressure; none of shallow water."""
    found = []
    for kind in kinds:
        if kind.name not in seen[-1].means or kind.name == "vorticity":
            continue
        parts = tuple(one.means[kind.name] for one in seen)
        step, edges = 180 / len(parts[0]), seen[-1].edges
        extent = Extent(
            first=(-90 + 0.5 * step, float(edges[0])),
            step=(step, 1.0),
            labels=("latitude (°)", "pressure (hPa)"),
            units=("°", "hPa"),
            borders=((-90.0, 90.0), (float(edges[0]), float(edges[-1]))),
            down=True,
            levels=edges,
        )
        found.append(Plane(kind.label, parts, extent, (1, 1), kind.colours, kind.diverging))
    return found


def field_panels(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """Fields at some output times. Raises KeyError, TypeError and the like for a record that no run writes."""
    results = record["results"]
    files, times = results.get("field_files", []), results.get("field_times_seconds", [])
    if not files:
        return [missing(MAPS, "the record names no fields that were written")]
    picked = spread(len(files), MOST_TIMES)
    with ledger.file("fields", "read"):
        kinds = kinds_of(results)
        found = [(times[n], seen_of(folder / files[n], kinds)) for n in picked]
    # Fields that are written may have been others before a run was resumed.
    alike = [(time, one) for time, one in found if one.maps.keys() >= found[-1][1].maps.keys()]
    at, seen = [time for time, _ in alike], [one for _, one in alike]
    panels = [planes_panel("maps", MAPS, _maps(seen, MOST_VALUES, kinds), at, "no value")]
    if zonal := _zonal(seen, kinds):
        panels.append(planes_panel("zonal", ZONAL, zonal, at, "no value"))
    return panels


def draw(record: Mapping[str, Any], folder: Path, title: str) -> Path:
    """Draw the fields at the end, on one rank; the picture's path."""
    results = record["results"]
    kinds = kinds_of(results)
    seen = [seen_of(folder / results["field_files"][-1], kinds)]
    path = folder / PICTURE
    planes = [*_maps(seen, PICTURE_VALUES, kinds), *[one for one in _zonal(seen, kinds) if one.diverging]]
    sheet.save(planes_figure(title, planes, results["field_times_seconds"][-1:], "no value"), path)
    return path


def course_panel(record: Mapping[str, Any]) -> Panel:
    """The time series. Raises ValueError where there are no rows."""
    rows = record["results"]["course"]
    tracers = record["results"].get("tracers", ())
    more = [Series(f"largest_of_{name}", f"largest {name}", POINT, zero=True) for name in tracers]
    return time_series_panel(record, [one for one in (*SERIES, *more) if one.key in rows[0]])


def spectrum_panel(record: Mapping[str, Any]) -> list[Panel]:
    """Kinetic energy over the total wavenumber at the end, of some levels."""
    spectrum = record["results"]["spectrum"]  # [level, n]
    picked = spread(len(spectrum), 5)
    n = np.arange(1.0, len(spectrum[0]))
    names = [""] if len(spectrum) == 1 else [f"level {number + 1}" for number in picked]
    lines = [(name, n, np.array(spectrum[number][1:])) for name, number in zip(names, picked, strict=True)]
    plot = Lines("kinetic energy (m²/s²)", "total wavenumber", lines, may_be_log=True)
    return [lines_panel("spectrum", "Spectrum", [plot], "At the end. Levels are counted from the top.")]
