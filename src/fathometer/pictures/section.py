"""One panel: values, positions and cuts drawn on a plane, in metres, depth down."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.base import formatting
from fathometer.pictures.plane import Grid, Plane, Values, downsampled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.image import AxesImage

SOURCE, RECEIVER, CUT = "#d62728", "#1f3f77", "#ffffff"
MOST_MARKERS = 2500


def draw_values(
    axes: Axes,
    values: Values,
    grid: Grid,
    plane: Plane,
    colours: Colormap,
    span: tuple[float, float],
    smooth: bool,
) -> AxesImage:
    """Draw the values (across, along) of a plane in colours from span[0] to span[1]; `smooth` interpolates."""
    shown, (across, along) = downsampled(values)
    left = grid.origin[plane.across] - grid.spacing[plane.across] / 2
    top = grid.origin[plane.along] - grid.spacing[plane.along] / 2
    right = left + shown.shape[0] * across * grid.spacing[plane.across]
    bottom = top + shown.shape[1] * along * grid.spacing[plane.along]
    return axes.imshow(
        np.asarray(shown, dtype=np.float32).T,
        cmap=colours,
        vmin=span[0],
        vmax=span[1],
        extent=(left, right, bottom, top),
        origin="upper",
        aspect="auto",  # the axes already have the true aspect
        interpolation="bicubic" if smooth else "auto",
        interpolation_stage="data",
    )


def set_axes(axes: Axes, grid: Grid, plane: Plane, across: str, along: str, whole: Collection[int] = ()) -> None:
    """Set limits, labels and ticks: x and y to the right, depth down, y of a map up; whole: axes (0, 1, 2) that have
    integer ticks only."""
    first, last = grid.span(plane.across)
    axes.set_xlim(first, last)
    first, last = grid.span(plane.along)
    axes.set_ylim(*((last, first) if plane.along == 2 else (first, last)))
    axes.set_xlabel(across)
    axes.set_ylabel(along)
    ticks(axes, (plane.across in whole, plane.along in whole))


def ticks(axes: Axes, whole: tuple[bool, bool] = (False, False)) -> None:
    """Set round ticks, as many as the panel has room for, with a space between thousands; whole: integers only, across
    and down."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    across, down = axes.get_figure(root=True).get_size_inches()  # type: ignore[union-attr]
    box = axes.get_position()
    rooms = ((axes.xaxis, box.width * across, 0.8), (axes.yaxis, box.height * down, 0.45))
    for (axis, inches, each), integer in zip(rooms, whole, strict=True):
        count = max(1, int(inches / each))
        axis.set_major_locator(MaxNLocator(nbins=count, steps=[1, 2, 2.5, 5, 10], integer=integer))
        axis.set_major_formatter(FuncFormatter(lambda value, _: thousands(value)))


def thousands(value: float) -> str:
    """Text of a number with spaces between thousands: 12345.0 is "12 345"; a fraction keeps its digits."""
    return formatting.thousands(f"{value:,.0f}" if value == round(value) else f"{value:,.10g}", "\N{THIN SPACE}")


def thinned(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """At most MOST_MARKERS of the points (n, 3), chosen evenly."""
    return points[:: -(-len(points) // MOST_MARKERS) or 1]


def draw_positions(
    axes: Axes,
    plane: Plane,
    sources: npt.NDArray[np.float64] | None,
    receivers: npt.NDArray[np.float64] | None,
) -> None:
    """Draw sources (red stars on a map, red triangles above a section) and receivers (blue dots), (n, 3) in m."""
    on_map = plane.along != 2
    top = axes.get_ylim()[1]
    low, high = axes.get_xlim()
    for points, colour, marker, size, rank in (
        (receivers, RECEIVER, ".", 2.0, 5),
        (sources, SOURCE, "*" if on_map else "v", 8.0 if on_map else 6.0, 6),
    ):
        if points is None or len(points) == 0:
            continue
        shown = thinned(np.asarray(points, dtype=np.float64))
        shown = shown[(shown[:, plane.across] >= low) & (shown[:, plane.across] <= high)]
        # On a section they sit on the upper edge: their depth is less than a marker.
        height = shown[:, plane.along] if on_map else np.full(len(shown), top)
        axes.plot(
            shown[:, plane.across],
            height,
            linestyle="none",
            marker=marker,
            color=colour,
            markersize=size,
            markeredgecolor="white" if marker != "." else colour,
            markeredgewidth=0.5 if marker != "." else 0.0,
            clip_on=on_map,
            zorder=rank,
        )


def draw_cuts(axes: Axes, across: float, along: float) -> None:
    """Draw lines where the other two slices cut this one, at positions in m."""
    from matplotlib.patheffects import Normal, Stroke

    outline = [Stroke(linewidth=2.2, foreground="#00000070"), Normal()]
    for draw, position in ((axes.axvline, across), (axes.axhline, along)):
        draw(position, color=CUT, linewidth=0.9, linestyle=(0, (6, 3)), path_effects=outline, zorder=4)
