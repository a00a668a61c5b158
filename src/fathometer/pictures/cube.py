"""A volume as a cube: its three slices as front, side and top, seen from above and the right of the x axis.

The projection is oblique: the front, x and depth, has true aspect; y goes back at an angle, shortened. Lines on each
face say where the other two slices lie, which the faces show in place of the volume's sides.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fathometer.pictures import sheet
from fathometer.pictures.panel_layout import Labels, Layer, colour_bar, time_stretch
from fathometer.pictures.plane import Grid, Plane, downsampled
from fathometer.pictures.section import CUT, thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

ROOM = (9.0, 7.0)  # inches of the whole cube
ANGLE, SHORTENED = math.radians(35.0), 0.6  # of y, against x and in length
TICK = 0.06  # inches
EACH = 0.7  # inches between numbers along an axis, at least
Corner = tuple[float, float]  # inches, to the right and up


def lay_out_cube(grid: Grid, planes: tuple[Plane, ...], layer: Layer, labels: Labels) -> Figure:
    """A figure of the slices x-z, y-z and x-y of `planes` as a cube with a colour bar."""
    sizes = [grid.shape[axis] * grid.spacing[axis] for axis in range(3)]
    if labels.in_time:
        sizes[2] *= time_stretch(grid, is_3d=True)
    along = SHORTENED * np.array([math.cos(ANGLE), math.sin(ANGLE)])
    scale = min(ROOM[0] / (sizes[0] + along[0] * sizes[1]), ROOM[1] / (sizes[2] + along[1] * sizes[1]))
    wide, deep = sizes[0] * scale, sizes[2] * scale
    back = sizes[1] * scale * along
    width = sheet.LEFT + wide + back[0] + 0.5 + sheet.BAR
    where = ", ".join(labels.where(grid, plane) for plane in planes)
    shortened = f"faces: {where}; y drawn {SHORTENED:g} times as long"
    note = f"{labels.note}; {shortened}" if labels.note else shortened
    top = sheet.note_height(note, width)
    height = top + back[1] + deep + sheet.BOTTOM
    figure = sheet.sheet(width, height, labels.title, 0.0, note)
    width, height = figure.get_size_inches()
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(0.0, width)
    axes.set_ylim(0.0, height)
    front = np.array([sheet.LEFT, sheet.BOTTOM + deep])  # upper left corner
    right, down = np.array([wide, 0.0]), np.array([0.0, -deep])
    # Of each plane: the corner at which both its axes begin, and the edges along these.
    faces = ((front, right, down), (front + right, back, down), (front, right, back))
    centre = {plane.fixed: (plane.index + 0.5) / grid.shape[plane.fixed] for plane in planes}
    images = []
    for plane, values, (corner, across, up) in zip(planes, layer.parts, faces, strict=True):
        images.append(_face(axes, layer, downsampled(values)[0], (corner, across, up)))
        for share, edge, other in ((centre[plane.across], across, up), (centre[plane.along], up, across)):
            _line(axes, corner + share * edge, corner + share * edge + other)
    _scale(axes, grid, labels, 0, (front + down, right), (0.0, -1.0))
    _scale(axes, grid, labels, 2, (front, down), (-1.0, 0.0))
    _scale(axes, grid, labels, 1, (front + right + down, back), (math.sin(ANGLE), -math.cos(ANGLE)))
    colour_bar(figure, images[0], layer.label, sheet.LEFT + wide + back[0] + 0.7, top + back[1] / 2, deep)
    return figure


def _face(axes: Axes, layer: Layer, values: np.ndarray, face: tuple[np.ndarray, np.ndarray, np.ndarray]) -> AxesImage:
    """Draw values (across, along) on a parallelogram."""
    from matplotlib.patches import Polygon
    from matplotlib.transforms import Affine2D

    corner, across, along = face
    outline = Polygon([corner, corner + across, corner + across + along, corner + along])
    outline.set(fill=False, edgecolor=sheet.INK, linewidth=0.9, joinstyle="round", zorder=3)
    axes.add_patch(outline)
    place = Affine2D.from_values(*across, *along, *corner) + axes.transData
    drawn = axes.imshow(
        np.asarray(values, np.float32).T,
        cmap=layer.colours,
        vmin=layer.span[0],
        vmax=layer.span[1],
        extent=(0.0, 1.0, 0.0, 1.0),
        origin="lower",
        aspect="auto",
        interpolation="bicubic" if layer.smooth else "nearest",
        interpolation_stage="data",
        transform=place,
        clip_on=True,
    )
    drawn.set_clip_path(outline)
    width, height = axes.get_figure(root=True).get_size_inches()  # type: ignore[union-attr]
    axes.set_xlim(0.0, width)
    axes.set_ylim(0.0, height)
    return drawn


def _line(axes: Axes, first: np.ndarray, last: np.ndarray) -> None:
    """A line across a face."""
    from matplotlib.patheffects import Normal, Stroke

    outline = [Stroke(linewidth=2.2, foreground="#00000070"), Normal()]
    ends = np.stack([first, last])
    axes.plot(ends[:, 0], ends[:, 1], color=CUT, linewidth=0.9, linestyle=(0, (6, 3)), path_effects=outline, zorder=2)


def _scale(axes: Axes, grid: Grid, labels: Labels, axis: int, edge: tuple[np.ndarray, np.ndarray], out: Corner) -> None:
    """Numbers and a name along an edge of the cube; edge: its beginning and vector; out: unit vector away from it."""
    from matplotlib.ticker import MaxNLocator

    begin, vector = edge
    low = grid.origin[axis] - grid.spacing[axis] / 2
    size = grid.shape[axis] * grid.spacing[axis]
    first, last = grid.span(axis)
    inches = float(np.hypot(*vector))
    count = max(2, int(inches / EACH))
    ticks = MaxNLocator(count, steps=[1, 2, 2.5, 5, 10], integer=axis in labels.whole).tick_values(first, last)
    away = np.asarray(out)
    upright = axis == 2
    beside = {0: "center", 1: "left", 2: "right"}[axis]
    level = "center" if upright else "top"
    for value in ticks:
        if first - 1e-9 * size <= value <= last + 1e-9 * size:
            place = begin + (value - low) / size * vector
            end = place + TICK * away
            axes.plot([place[0], end[0]], [place[1], end[1]], color=sheet.INK, linewidth=0.8, zorder=2)
            x, y = end + 0.04 * away
            axes.text(x, y, thousands(round(float(value), 6)), fontsize=9, ha=beside, va=level)
    x, y = begin + vector / 2 + (0.36, 0.5, 0.62)[axis] * away
    axes.text(x, y, labels.axis(axis), ha="left" if axis == 1 else "center", va=level, rotation=90 * upright)
