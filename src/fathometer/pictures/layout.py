"""The panels of one volume on a sheet: x-z, the map above it, y-z on its right, shared axes lined up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.pictures import sheet
from fathometer.pictures.plane import Grid, Plane, Values
from fathometer.pictures.section import RECEIVER, SOURCE, cut, frame, mark, paint, thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

ROOM = (9.5, 7.0)  # inches for all panels together
GAP = 0.4  # inches between panels, at least
LETTER = 0.085  # inches a letter of labels, at most
LEGEND = 2.9  # inches for the legend beside the title
CELLS = "cells"  # the unit of axes without a spacing
LOWEST_BAR = 1.3  # inches: a lower colour bar would be unreadable
Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Coat:
    """Values to paint: one array (across, along) for each plane, their colours and range."""

    parts: tuple[Values, ...]
    colours: Colormap
    span: tuple[float, float]
    smooth: bool


@dataclass(frozen=True)
class Names:
    """What stands on a sheet: title, label of the colour bar, names of the axes x, y, z, their unit, a small note."""

    title: str
    label: str
    axes: tuple[str, str, str] = ("x", "y", "depth")
    unit: str = "m"
    note: str = ""

    def axis(self, axis: int) -> str:
        """The label of an axis."""
        return f"{self.axes[axis]} ({self.unit})"

    def where(self, grid: Grid, plane: Plane) -> str:
        """The name of a slice: where it lies."""
        place = round(grid.position(plane.fixed, plane.index), 1)
        return f"{self.axes[plane.fixed]} = {thousands(place)} {self.unit}"


def lay_out(
    grid: Grid,
    planes: tuple[Plane, ...],
    coats: list[Coat],
    names: Names,
    sources: Points | None = None,
    receivers: Points | None = None,
) -> Figure:
    """A sheet of one panel (2D) or three (3D) at one scale and true aspect, `coats` on top of each other.

    The label of the colour bar is that of the first coat.
    """
    solid = len(planes) == 3
    x, y, z = (grid.length(axis) for axis in range(3))
    scale = sheet.inches_per_metre((x, y) if solid else (x,), (y, z) if solid else (z,), ROOM)
    wide, deep, thick = x * scale, z * scale, y * scale if solid else 0.0
    beside = _gap(grid, planes, names, wide, thick) if solid else 0.0
    left = sheet.LEFT + wide + beside
    top = sheet.TOP + (sheet.NAME if solid else 0.0)
    first = top + (thick + GAP if solid else 0.0)
    bar = max(deep, LOWEST_BAR)
    marked = any(points is not None and len(points) for points in (sources, receivers))
    figure = sheet.sheet(
        left + thick + sheet.BAR,
        first + max(deep + sheet.BOTTOM, bar + 0.2),
        names.title,
        LEGEND if marked else 0.0,
        names.note,
    )
    panels = [sheet.place(figure, sheet.LEFT, first, wide, deep)]
    if solid:
        panels.append(sheet.place(figure, left, first, thick, deep))
        panels.append(sheet.place(figure, sheet.LEFT, top, wide, thick))
    for number, (axes, plane) in enumerate(zip(panels, planes, strict=True)):
        layers = [paint(axes, coat.parts[number], grid, plane, coat.colours, coat.span, coat.smooth) for coat in coats]
        frame(axes, grid, plane, names.axis(plane.across), names.axis(plane.along), names.unit == CELLS)
        mark(axes, plane, sources, receivers if plane.along != 2 else None)
        if number == 0:
            colour_bar(figure, layers[0], names.label, left + thick + 0.2, first, bar)
    if solid:
        _join(panels, grid, planes, names)
    _legend(figure, sources, receivers if solid else None)
    return figure


def _gap(grid: Grid, planes: tuple[Plane, ...], names: Names, wide: float, thick: float) -> float:
    """Inches between x-z and y-z: more where narrow panels have longer names and labels."""
    name = LETTER * len(names.where(grid, planes[0])) + 0.1 - wide
    labels = LETTER * (len(names.axis(0)) + len(names.axis(1))) / 2 + 0.1 - (wide + thick) / 2
    return max(GAP, name, labels)


def _join(panels: list[Axes], grid: Grid, planes: tuple[Plane, ...], names: Names) -> None:
    """Name the three slices, show where they meet, and label shared axes once."""
    centre = [grid.position(plane.fixed, plane.index) for plane in (planes[1], planes[0], planes[2])]
    for axes, plane in zip(panels, planes, strict=True):
        cut(axes, centre[plane.across], centre[plane.along])
        axes.set_title(names.where(grid, plane), loc="left", pad=6 if plane.along == 2 else 4)
    _, side, above = panels
    side.set_ylabel("")
    side.tick_params(labelleft=False)
    above.set_xlabel("")
    above.tick_params(labelbottom=False)


def colour_bar(figure: Figure, layer: AxesImage, label: str, left: float, top: float, height: float) -> None:
    """A colour bar at a place in inches."""
    from matplotlib.ticker import MaxNLocator

    bar = figure.colorbar(layer, cax=sheet.place(figure, left, top, 0.16, height))
    bar.ax.yaxis.set_major_locator(MaxNLocator(nbins=max(2, int(height / 0.5)), steps=[1, 2, 5, 10]))
    bar.set_label(label)
    bar.outline.set_linewidth(0.6)


def _legend(figure: Figure, sources: Points | None, receivers: Points | None) -> None:
    """What the markers are, at the sheet's top right under the title."""
    from matplotlib.lines import Line2D

    shown = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=marker,
            color=colour,
            markersize=size,
            label=f"{len(points)} {word}",
        )
        for points, marker, colour, size, word in (
            (sources, "v", SOURCE, 6.0, "sources"),
            (receivers, ".", RECEIVER, 5.0, "receivers"),
        )
        if points is not None and len(points)
    ]
    if shown:
        across, down = figure.get_size_inches()
        figure.legend(
            handles=shown,
            loc="upper right",
            bbox_to_anchor=(1.0 - 0.1 / across, 1.0 - 0.22 / down),
            ncols=len(shown),
            handletextpad=0.1,
            columnspacing=1.0,
            borderaxespad=0.0,
        )
