"""Layout of the panels of a volume: x-z, the map above it, y-z on its right, shared axes aligned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.pictures import sheet
from fathometer.pictures.plane import Grid, Plane, Values
from fathometer.pictures.section import RECEIVER, SOURCE, draw_cuts, draw_positions, draw_values, set_axes, thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

ROOM = (9.5, 7.0)  # inches for all panels together
GAP = 0.4  # inches between panels, at least
LETTER = 0.085  # inches a letter of labels, at most
LEGEND = 2.9  # inches for the legend beside the title
TIME_RATIO = 0.6  # height of a section in time over its width: seconds have no true aspect beside metres
CELLS = "cells"  # the unit of axes without a spacing
LOWEST_BAR = 1.3  # inches: a lower colour bar would be unreadable
Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Layer:
    """Values to draw: one array (across, along) for each plane, their colours and range."""

    parts: tuple[Values, ...]
    colours: Colormap
    span: tuple[float, float]
    smooth: bool


@dataclass(frozen=True)
class Labels:
    """Texts of a figure: title, label of the colour bar, names of the axes x, y, z, their unit, a small note."""

    title: str
    label: str
    axes: tuple[str, str, str] = ("x", "y", "depth")
    unit: str = "m"
    note: str = ""
    in_time: bool = False  # the third axis is two-way time, s

    def axis(self, axis: int) -> str:
        """The label of an axis, with its unit."""
        name = "two-way time" if self.in_time and axis == 2 else self.axes[axis]
        return f"{name} ({self._unit(axis)})"

    @property
    def whole(self) -> tuple[int, ...]:
        """The axes whose positions are numbers of cells."""
        return tuple(axis for axis in range(3) if self._unit(axis) == CELLS)

    def _unit(self, axis: int) -> str:
        return "s" if self.in_time and axis == 2 else self.unit

    def where(self, grid: Grid, plane: Plane) -> str:
        """The title of a slice: its position."""
        unit = self._unit(plane.fixed)
        position = round(grid.position(plane.fixed, plane.index), 3 if unit == "s" else 1)
        return f"{'time' if unit == 's' else self.axes[plane.fixed]} = {thousands(position)} {unit}"


def lay_out(
    grid: Grid,
    planes: tuple[Plane, ...],
    layers: list[Layer],
    labels: Labels,
    sources: Points | None = None,
    receivers: Points | None = None,
) -> Figure:
    """A figure of one panel (2D) or three (3D) at one scale and true aspect, `layers` on top of each other.

    The label of the colour bar is that of the first layer.
    """
    is_3d = len(planes) == 3
    x, y, z = (grid.length(axis) for axis in range(3))
    tall = TIME_RATIO * max(x, y if is_3d else 0.0) / z if labels.in_time else 1.0
    z *= tall
    scale = sheet.inches_per_metre((x, y) if is_3d else (x,), (y, z) if is_3d else (z,), ROOM)
    # Inches of the axes x, z, y.
    wide, deep, thick = x * scale, z * scale, y * scale if is_3d else 0.0
    beside = _gap(grid, planes, labels, wide, thick) if is_3d else 0.0
    left = sheet.LEFT + wide + beside
    top = sheet.TOP + (sheet.NAME if is_3d else 0.0)
    first = top + (thick + GAP if is_3d else 0.0)
    bar = max(deep, LOWEST_BAR)
    marked = any(points is not None and len(points) for points in (sources, receivers))
    figure = sheet.sheet(
        left + thick + sheet.BAR,
        first + max(deep + sheet.BOTTOM, bar + 0.2),
        labels.title,
        LEGEND if marked else 0.0,
        labels.note,
    )
    panels = [sheet.place(figure, sheet.LEFT, first, wide, deep)]
    if is_3d:
        panels.append(sheet.place(figure, left, first, thick, deep))
        panels.append(sheet.place(figure, sheet.LEFT, top, wide, thick))
    for number, (axes, plane) in enumerate(zip(panels, planes, strict=True)):
        drawn = [
            draw_values(axes, layer.parts[number], grid, plane, layer.colours, layer.span, layer.smooth)
            for layer in layers
        ]
        set_axes(axes, grid, plane, labels.axis(plane.across), labels.axis(plane.along), labels.whole)
        draw_positions(axes, plane, sources, receivers if plane.along != 2 else None)
        if number == 0:
            colour_bar(figure, drawn[0], labels.label, left + thick + 0.2, first, bar)
    if is_3d:
        _join(panels, grid, planes, labels)
    _legend(figure, sources, receivers if is_3d else None)
    return figure


def _gap(grid: Grid, planes: tuple[Plane, ...], labels: Labels, wide: float, thick: float) -> float:
    """Inches between x-z and y-z: more where titles and labels are wider than the panels."""
    title = LETTER * len(labels.where(grid, planes[0])) + 0.1 - wide
    axis_labels = LETTER * (len(labels.axis(0)) + len(labels.axis(1))) / 2 + 0.1 - (wide + thick) / 2
    return max(GAP, title, axis_labels)


def _join(panels: list[Axes], grid: Grid, planes: tuple[Plane, ...], labels: Labels) -> None:
    """Title the three slices, draw where they cut each other, and label shared axes once."""
    centre = [grid.position(plane.fixed, plane.index) for plane in (planes[1], planes[0], planes[2])]
    for axes, plane in zip(panels, planes, strict=True):
        draw_cuts(axes, centre[plane.across], centre[plane.along])
        axes.set_title(labels.where(grid, plane), loc="left", pad=6 if plane.along == 2 else 4)
    _, side, above = panels
    side.set_ylabel("")
    side.tick_params(labelleft=False)
    above.set_xlabel("")
    above.tick_params(labelbottom=False)


def colour_bar(figure: Figure, image: AxesImage, label: str, left: float, top: float, height: float) -> None:
    """Add a colour bar of an image at a position in inches."""
    from matplotlib.ticker import MaxNLocator

    bar = figure.colorbar(image, cax=sheet.place(figure, left, top, 0.16, height))
    bar.ax.yaxis.set_major_locator(MaxNLocator(nbins=max(2, int(height / 0.5)), steps=[1, 2, 5, 10]))
    bar.set_label(label)
    bar.outline.set_linewidth(0.6)


def _legend(figure: Figure, sources: Points | None, receivers: Points | None) -> None:
    """Add a legend of the markers, at the figure's top right under the title."""
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
