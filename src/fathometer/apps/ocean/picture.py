"""The picture of an ocean at the end, ocean.png: surface height with currents, temperature at the surface and on a
section, and the barotropic streamfunction, as far as the fields have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.ocean.field_maps import Axes as Places
from fathometer.apps.ocean.field_maps import FieldFile, Map, Section, Values, thinned
from fathometer.base import ledger
from fathometer.pictures import sheet
from fathometer.pictures.panel_grid import PanelGrid
from fathometer.pictures.section import ticks
from fathometer.report.scale import Scale, range_of
from fathometer.report.times import time_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fathometer.apps.ocean.case import Case

PICTURE = "ocean.png"
LAND = "#b9bec4"
WIDTH = 4.6  # inches of a panel
LOWEST, TALLEST = 0.35, 1.1  # height of a map over its width: beyond these it is stretched
MOST_VALUES = 1200  # along a side of a map
ARROWS = 24  # along the longer side of a map
MAPS = 4  # with the section
MATPLOTLIB = {"RdBu": "RdBu_r", "Plasma": "plasma", "Viridis": "viridis", "Cividis": "cividis"}


def draw(case: Case, fields: Path) -> Path:
    """Draw the fields of a file, on one rank; returns the picture's path.

    Raises InputError where the file cannot be read, FathometerError where the picture cannot be written.
    """
    path = case.file.output_directory / PICTURE
    with ledger.file("fields", "read"), FieldFile(fields, case.problem.grid.shape) as file:
        figure = ocean_figure(file, case.file.path.stem)
    sheet.save(figure, path)
    return path


def ocean_figure(file: FieldFile, subject: str) -> Figure:
    """The figure that `draw` writes."""
    section = file.section()
    maps = [file.map(kind) for kind in file.kinds()][: MAPS - (section is not None)]
    title = f"{subject} after {time_text(file.time)}"
    if not maps:
        with sheet.style():
            return sheet.sheet(6.0, 1.2, title, 0.0, "No fields of the surface were written.")
    panels: list[Map | Section] = [*maps[:2], *([section] if section is not None else []), *maps[2:]]
    ratio, true = _ratio(maps[0])
    limits = file.axes().borders(maps[0].values.shape)
    columns = 1 if len(panels) == 1 else 2
    with sheet.style():
        layout = PanelGrid(-(-len(panels) // columns), columns, WIDTH, WIDTH * ratio)
        notes = ["grey: land"] + ([] if true else ["axes not at one scale"])
        figure = layout.figure(title, "; ".join(notes))
        for number, panel in enumerate(panels):
            left, top = layout.place(*divmod(number, columns))
            axes = sheet.place(figure, left, top, layout.width, layout.height)
            axes.set_facecolor(LAND)
            if isinstance(panel, Section):
                scale = _section(axes, panel)
            else:
                scale = _map(axes, panel, limits)
                if number == 0 and panel.kind.name == "height":
                    _arrows(axes, file, layout.height)
            ticks(axes)
            if not scale.plain:
                _bar(figure, axes, left + layout.width + 0.12, top, layout.height)
    return figure


def _ratio(shown: Map) -> tuple[float, bool]:
    """Height of a map over its width, and whether both axes have one scale."""
    wide, high = (n * h for n, h in zip(shown.values.shape, shown.axes.step, strict=True))
    ratio = high / wide
    return min(max(ratio, LOWEST), TALLEST), LOWEST <= ratio <= TALLEST


def _colours(shown: Map | Section, scale: Scale) -> dict[str, Any]:
    """Colours and their range, symmetric about 0 where they diverge."""
    if isinstance(shown, Section):
        return {"cmap": "plasma", "vmin": scale.low, "vmax": scale.high}
    most = max(abs(scale.low), abs(scale.high))
    low, high = (-most, most) if shown.kind.diverging else (scale.low, scale.high)
    return {"cmap": MATPLOTLIB[shown.kind.colours], "vmin": low, "vmax": high}


def _map(axes: Axes, shown: Map, limits: Sequence[tuple[float, float]]) -> Scale:
    """A map; limits: the grid's borders along x and y."""
    values, blocks = thinned(shown.values, MOST_VALUES)
    places = shown.axes.moved(blocks)
    scale = range_of([values])
    (left, right), (low, high) = places.borders(values.shape)
    axes.imshow(
        np.ma.masked_invalid(values.T),
        extent=(left, right, low, high),
        origin="lower",
        aspect="auto",
        interpolation="nearest" if max(values.shape) < 400 else "auto",
        interpolation_stage="data",
        **_colours(shown, scale),
    )
    if shown.kind.name == "streamfunction" and not scale.plain:
        x, y = (a + h * np.arange(n) for a, h, n in zip(places.first, places.step, values.shape, strict=True))
        if min(values.shape) > 1:
            axes.contour(x, y, np.ma.masked_invalid(values.T), 9, colors="#222222", linewidths=0.5)
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    axes.set_xlabel(shown.axes.labels[0])
    axes.set_ylabel(shown.axes.labels[1])
    axes.set_title(_titled(shown.label, scale), loc="left")
    return scale


def _section(axes: Axes, section: Section) -> Scale:
    scale = range_of([section.values])
    edges = section.first + section.step * (np.arange(len(section.values) + 1) - 0.5)
    axes.pcolormesh(
        edges, section.bounds, np.ma.masked_invalid(section.values.T), shading="flat", **_colours(section, scale)
    )
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(section.bounds[-1], 0.0)
    axes.set_xlabel(section.across)
    axes.set_ylabel("depth (m)")
    axes.set_title(_titled(f"Temperature (°C) at {section.title}", scale), loc="left")
    return scale


def _titled(label: str, scale: Scale) -> str:
    if scale.empty:
        return f"{label}: no values"
    return label if scale.constant is None else f"{label}: {scale.constant:.4g} everywhere"


def _arrows(axes: Axes, file: FieldFile, height: float) -> None:
    """Currents at the surface, means over blocks of cells, and the length of one above the panel, `height` inches
    high."""
    found = file.currents()
    if found is None:
        return
    u, v, places = found
    most = max(2, min(ARROWS, max(u.shape)))
    cells = -(-max(u.shape) // most)  # square blocks
    u, v = (_blocks(values, cells) for values in (u, v))
    speed = np.hypot(u, v)
    fast = speed[np.isfinite(speed) & (speed > 0)]
    if not fast.size:
        return
    unit = _round(float(np.percentile(fast, 95)))
    x, y = _centres(places, cells, u.shape)
    inches = WIDTH / ARROWS
    arrows = axes.quiver(
        x,
        y,
        np.ma.masked_invalid(u.T),
        np.ma.masked_invalid(v.T),
        scale=unit / (1.1 * inches),
        scale_units="inches",
        units="inches",
        width=0.014,
        headwidth=4,
        color="#1a1a1a",
        minlength=0.5,
    )
    above = 1.0 + 0.14 / height
    axes.quiverkey(
        arrows, 0.9, above, unit, f"{unit:g} m/s", labelpos="W", coordinates="axes", fontproperties={"size": 8}
    )


def _blocks(values: Values, cells: int) -> Values:
    """Means over blocks of so many cells along both axes."""
    n, m = (max(1, count // cells) for count in values.shape)
    across, along = (min(cells, count) for count in values.shape)
    parts = values[: n * across, : m * along].reshape(n, across, m, along).astype(np.float64)
    water = np.isfinite(parts)
    count = water.sum(axis=(1, 3))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(water, parts, 0.0).sum(axis=(1, 3)) / count
    return np.where(2 * count >= across * along, means, np.nan).astype(np.float32)


def _centres(places: Places, cells: int, shape: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    first = places.moved((cells, cells))
    x, y = (a + h * np.arange(n) for a, h, n in zip(first.first, first.step, shape, strict=True))
    return x, y


def _round(value: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten."""
    size = 10.0 ** np.floor(np.log10(value))
    return float(min((1.0, 2.0, 5.0, 10.0), key=lambda n: abs(np.log(n * size / value))) * size)


def _bar(figure: Figure, axes: Axes, left: float, top: float, height: float) -> None:
    from matplotlib.ticker import MaxNLocator

    shown = axes.images[0] if axes.images else axes.collections[0]
    bar = figure.colorbar(shown, cax=sheet.place(figure, left, top, 0.14, height))
    bar.outline.set_linewidth(0.6)
    bar.ax.yaxis.set_major_locator(MaxNLocator(nbins=max(2, int(height / 0.4)), steps=[1, 2, 5, 10]))
