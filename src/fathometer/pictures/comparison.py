"""Comparison of several images of one section, one above another at one scale, and the velocity below them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.pictures import sheet
from fathometer.pictures.colours import (
    CLIP_PERCENTILE,
    SIGNS,
    full_range,
    property_colours,
    seismic_colours,
    symmetric_range,
)
from fathometer.pictures.gain import below_water
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
    gained: str = "no gain",
) -> Figure:
    """The figure that `comparison_picture` writes."""
    if not panels:
        raise ValueError("a comparison needs at least one image")
    grid = grid_of(vp.shape, spacing, origin)
    plane = planes_of(grid)[0]
    speed = plane.of(vp)
    count = len(panels) + 1
    scale = sheet.inches_per_metre([grid.length(0)], [grid.length(2)] * count, ROOM)
    wide, deep = grid.length(0) * scale, grid.length(2) * scale
    clipped = f"clipped at the {CLIP_PERCENTILE:g}th percentile"
    note = f"each panel: {gained}, {clipped}, faded out in the water; {SIGNS['grey']}"
    width = sheet.LEFT + wide + sheet.BAR
    top = sheet.NAME + sheet.note_height(note, width)
    height = top + count * (deep + GAP) - GAP + sheet.BOTTOM
    with sheet.style():
        figure = sheet.sheet(width, height, title, 0.0, note)
        places = [sheet.place(figure, sheet.LEFT, top + number * (deep + GAP), wide, deep) for number in range(count)]
        drawn = []
        for axes, (name, image) in zip(places, panels, strict=False):
            if image.shape != vp.shape:
                raise ValueError(f"{name}: image {image.shape} and velocity {vp.shape} have different shapes")
            section, below = below_water(plane.of(image), speed)
            # Each has its own clip: a reflectivity and an image have different units.
            section = section / symmetric_range([section[below]])
            drawn.append(draw_values(axes, section, grid, plane, seismic_colours(), (-1.0, 1.0), smooth=True))
            axes.set_title(name, loc="left")
        drawn.append(draw_values(places[-1], speed, grid, plane, property_colours(), full_range([speed]), smooth=False))
        places[-1].set_title("velocity", loc="left")
        for number, axes in enumerate(places):
            set_axes(axes, grid, plane, "x (m)" if number + 1 == count else "", "depth (m)")
            axes.tick_params(labelbottom=number + 1 == count)
        for number, label in ((0, "amplitude (1: clip)"), (count - 1, "vp (m/s)")):
            left, above = sheet.LEFT + wide + 0.2, top + number * (deep + GAP)
            colour_bar(figure, drawn[number], label, left, above, max(deep, min(LOWEST_BAR, deep + GAP)))
    return figure


def comparison_picture(
    path: Path,
    panels: Sequence[tuple[str, Values]],
    vp: Values,
    spacing: Sequence[float],
    origin: Sequence[float],
    title: str = "",
    gained: str = "no gain",
) -> None:
    """Draw several images (title, array) and the velocity, one above another at one scale, into a .png, .pdf or .svg.

    Arrays: (nx, ny, nz), axes x, y, z; of 3D ones the x-z section through the middle. vp in m/s; spacing and
    origin x, y, z in m. gained: words on the gain that the images have. Each image has a clip of its own. Raises
    ValueError for shapes that don't fit, FathometerError where the file can't be written.
    """
    sheet.save(comparison_figure(panels, vp, spacing, origin, title, gained), path)
