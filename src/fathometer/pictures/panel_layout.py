"""Layout of the panels of a volume: x-z, the map above it, y-z on its right, shared axes aligned.

A second volume, such as the velocity of an image, has its sections below those of the first, or beside a single one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.base.formatting import power
from fathometer.pictures import sheet
from fathometer.pictures.plane import Grid, Plane, Values
from fathometer.pictures.section import RECEIVER, SOURCE, draw_cuts, draw_positions, draw_values, set_axes, thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

# Inches for all panels together: of one volume, of one below another, of one beside another.
ROOM, ROOM_BELOW, ROOM_BESIDE = (9.5, 7.0), (9.5, 10.5), (15.0, 7.0)
GAP = 0.4  # inches between panels, at least
LETTER = 0.085  # inches a letter of labels, at most
LEGEND = 2.9  # inches for the legend beside the title
TIME_RATIO = 0.6  # height of a section in time over its width: seconds have no true aspect beside metres
MINUS = "\N{MINUS SIGN}"
CELLS = "cells"  # the unit of axes without a spacing
LOWEST_BAR = 1.3  # inches: a lower colour bar would be unreadable
Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Layer:
    """Values to draw: one array (across, along) for each plane, their colours and range, the label of their bar."""

    parts: tuple[Values, ...]
    colours: Colormap
    span: tuple[float, float]
    smooth: bool
    label: str


@dataclass(frozen=True)
class Labels:
    """Texts of a figure: title, name of the values, names of the axes x, y, z, their unit, a small note."""

    title: str
    label: str = ""
    axes: tuple[str, str, str] = ("x", "y", "depth")
    unit: str = "m"
    note: str = ""
    in_time: bool = False  # the third axis is two-way time, s

    def noted(self, note: str) -> Labels:
        """With this note."""
        return replace(self, note=note)

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
    layers: Sequence[Layer],
    labels: Labels,
    sources: Points | None = None,
    receivers: Points | None = None,
) -> Figure:
    """A figure at one scale and true aspect: of the first layer one panel (2D) or three (3D), of the others the
    sections, each layer with its colour bar."""
    is_3d = len(planes) == 3
    x, y, z = (grid.length(axis) for axis in range(3))
    z *= time_stretch(grid, is_3d) if labels.in_time else 1.0
    beside, scale = _arranged(x, y, z, is_3d, len(layers))
    # Inches of the axes x, z, y.
    wide, deep, thick = x * scale, z * scale, y * scale if is_3d else 0.0
    gap = _gap(grid, planes, labels, wide, thick) if is_3d else 0.0
    across = wide + gap + thick + sheet.BAR
    marked = any(points is not None and len(points) for points in (sources, receivers))
    width = sheet.LEFT + across * (len(layers) if beside else 1)
    top = sheet.note_height(labels.note, width) + (sheet.NAME if is_3d else 0.0)
    first = top + (thick + GAP if is_3d else 0.0)
    bar = max(deep, LOWEST_BAR)
    row = max(deep + GAP, bar + 0.25)
    down = first + (0 if beside else len(layers) - 1) * row
    height = down + max(deep + sheet.BOTTOM, bar + 0.2)
    figure = sheet.sheet(width, height, labels.title, LEGEND if marked else 0.0, labels.note)
    for number, layer in enumerate(layers):
        left, above = (sheet.LEFT + number * across, first) if beside else (sheet.LEFT, first + number * row)
        panels = [sheet.place(figure, left, above, wide, deep)]
        if is_3d:
            panels.append(sheet.place(figure, left + wide + gap, above, thick, deep))
        if is_3d and number == 0:
            panels.append(sheet.place(figure, left, top, wide, thick))
        drawn = _draw(panels, layer, grid, planes, labels)
        if number == 0:
            for axes, plane in zip(panels, planes, strict=True):
                draw_positions(axes, plane, sources, receivers if plane.along != 2 else None)
        _share(panels, across=not beside and number + 1 < len(layers), down=beside and number > 0)
        colour_bar(figure, drawn, layer.label, left + across - sheet.BAR + 0.2, above, bar)
    _legend(figure, sources, receivers if is_3d else None)
    return figure


def _draw(panels: list[Axes], layer: Layer, grid: Grid, planes: tuple[Plane, ...], labels: Labels) -> AxesImage:
    """Draw a volume on its panels, the first planes; the image of the first, for a colour bar."""
    drawn = []
    for axes, plane, values in zip(panels, planes, layer.parts, strict=False):
        drawn.append(draw_values(axes, values, grid, plane, layer.colours, layer.span, layer.smooth))
        set_axes(axes, grid, plane, labels.axis(plane.across), labels.axis(plane.along), labels.whole)
    if len(planes) == 3:
        _join(panels, grid, planes, labels)
    return drawn[0]


def _share(panels: list[Axes], across: bool, down: bool) -> None:
    """Leave out the labels of sections that another volume's have below them (across) or on their left (down)."""
    for axes in panels[:2]:
        if across:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
        if down:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)


def time_stretch(grid: Grid, is_3d: bool) -> float:
    """Metres that are drawn for a second of two-way time."""
    return TIME_RATIO * max(grid.length(0), grid.length(1) if is_3d else 0.0) / grid.length(2)


def _arranged(x: float, y: float, z: float, is_3d: bool, layers: int) -> tuple[bool, float]:
    """Whether volumes are beside each other, and inches a metre: the larger of both arrangements."""
    if is_3d:
        room = ROOM if layers == 1 else ROOM_BELOW
        return False, sheet.inches_per_metre((x, y), (y, *[z] * layers), room)
    if layers == 1:
        return False, sheet.inches_per_metre((x,), (z,), ROOM)
    below = sheet.inches_per_metre((x,), [z] * layers, ROOM_BELOW)
    beside = sheet.inches_per_metre([x] * layers, (z,), ROOM_BESIDE)
    return beside > below, max(beside, below)


def _gap(grid: Grid, planes: tuple[Plane, ...], labels: Labels, wide: float, thick: float) -> float:
    """Inches between x-z and y-z: more where titles and labels are wider than the panels."""
    title = LETTER * len(labels.where(grid, planes[0])) + 0.1 - wide
    axis_labels = LETTER * (len(labels.axis(0)) + len(labels.axis(1))) / 2 + 0.1 - (wide + thick) / 2
    return max(GAP, title, axis_labels)


def _join(panels: list[Axes], grid: Grid, planes: tuple[Plane, ...], labels: Labels) -> None:
    """Draw where the slices cut each other, title those of a volume that has all three, and label shared axes once."""
    centre = [grid.position(plane.fixed, plane.index) for plane in (planes[1], planes[0], planes[2])]
    named = len(panels) == len(planes)
    for axes, plane in zip(panels, planes, strict=False):
        draw_cuts(axes, centre[plane.across], centre[plane.along])
        if named:
            axes.set_title(labels.where(grid, plane), loc="left", pad=6 if plane.along == 2 else 4)
    panels[1].set_ylabel("")
    panels[1].tick_params(labelleft=False)
    if named:
        panels[2].set_xlabel("")
        panels[2].tick_params(labelbottom=False)


def colour_bar(figure: Figure, image: AxesImage, label: str, left: float, top: float, height: float) -> None:
    """Add a colour bar of an image at a position in inches."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    bar = figure.colorbar(image, cax=sheet.place(figure, left, top, 0.16, height))
    bar.ax.yaxis.set_major_locator(MaxNLocator(nbins=max(2, int(height / 0.5)), steps=[1, 2, 5, 10]))
    size = max(abs(limit) for limit in image.get_clim())
    if size > 0.0 and not 1e-3 <= size < 1e5:
        # The power of ten goes into the label: above the bar it would meet the title.
        exponent = math.floor(math.log10(size))
        bar.ax.yaxis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value / 10.0**exponent:.4g}".replace("-", MINUS))
        )
        label = f"{label}, in {power(exponent)}"
    bar.set_label(label)
    bar.outline.set_linewidth(0.6)
    bar.ax.set_label("colour bar")


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
