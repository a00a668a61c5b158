"""Comparison of several images of one section, one above another at one scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.pictures import sheet
from fathometer.pictures.colours import (
    background_colours,
    below_water,
    full_range,
    overlay_colours,
    symmetric_range,
)
from fathometer.pictures.panel_layout import LOWEST_BAR, colour_bar
from fathometer.pictures.plane import Values, grid_of, planes_of
from fathometer.pictures.section import draw_values, set_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOM = (9.5, 10.0)  # inches for all panels together
GAP = 0.4  # inches between panels, with the lower one's title


def comparison_figure(
    panels: Sequence[tuple[str, Values]],
    vp: Values,
    spacing: Sequence[float],
    origin: Sequence[float],
    title: str = "",
) -> Figure:
    """The figure that `comparison_picture` writes."""
    if not panels:
        raise ValueError("a comparison needs at least one image")
    grid = grid_of(vp.shape, spacing, origin)
    plane = planes_of(grid)[0]
    speed = plane.of(vp)
    scale = sheet.inches_per_metre([grid.length(0)], [grid.length(2)] * len(panels), ROOM)
    wide, deep = grid.length(0) * scale, grid.length(2) * scale
    top = sheet.NAME + (sheet.TOP if title else 0.1)
    height = top + len(panels) * (deep + GAP) - GAP + sheet.BOTTOM
    with sheet.style():
        figure = sheet.sheet(sheet.LEFT + wide + sheet.BAR, height, title)
        for number, (name, image) in enumerate(panels):
            if image.shape != vp.shape:
                raise ValueError(f"{name}: image {image.shape} and velocity {vp.shape} have different shapes")
            axes = sheet.place(figure, sheet.LEFT, top + number * (deep + GAP), wide, deep)
            velocity = draw_values(axes, speed, grid, plane, background_colours(), full_range([speed]), smooth=False)
            section, below = below_water(plane.of(image), speed)
            # Each has its own range: a reflectivity and an image have different units.
            clip = symmetric_range([section[below]])
            draw_values(axes, section, grid, plane, overlay_colours(), (-clip, clip), smooth=True)
            set_axes(axes, grid, plane, "x (m)", "depth (m)")
            axes.set_title(name, loc="left")
            if number + 1 < len(panels):
                axes.set_xlabel("")
                axes.tick_params(labelbottom=False)
        colour_bar(figure, velocity, "vp (m/s)", sheet.LEFT + wide + 0.2, top, max(deep, LOWEST_BAR))
    return figure


def comparison_picture(
    path: Path,
    panels: Sequence[tuple[str, Values]],
    vp: Values,
    spacing: Sequence[float],
    origin: Sequence[float],
    title: str = "",
) -> None:
    """Draw several images (title, array) over one velocity, one above another at one scale, into a PNG.

    Arrays: (nx, ny, nz), axes x, y, z; of 3D ones the x-z section through the middle. vp in m/s; spacing and
    origin x, y, z in m. Each image has a clip of its own. Raises ValueError for shapes that don't fit,
    FathometerError where the file can't be written.
    """
    sheet.save(comparison_figure(panels, vp, spacing, origin, title), path)
