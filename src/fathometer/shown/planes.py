"""Fields over planes, at some times: one description, a panel of the page and a picture made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from fathometer.base.formatting import power, times_text
from fathometer.pictures import sheet
from fathometer.pictures.panel_grid import WIDTH, PanelGrid, columns_for
from fathometer.pictures.plane import downsampled
from fathometer.pictures.section import ticks
from fathometer.report.scale import Scale, Values, field_entry, range_of
from fathometer.runs.application import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOWEST, TALLEST = 0.3, 1.4  # height of a plane over its width: beyond these it is stretched
OUTER = 0.01  # of the values, at each end, that colours may leave out where a few are far away
OTHER_UNITS = 0.45  # the same where the axes have different units
NO_VALUE = "#c9ced3"  # where a field has none
LEVEL_ROWS = 160  # of a page, at most, for levels of unequal thickness
CONTOURS = 9
ARROWS = 24  # along the longer side
# By the name of the colours: stops at equal distances where Plotly has none of that name, and matplotlib's name.
COLOURS: dict[str, tuple[str, str]] = {
    "Viridis": ("", "viridis"),
    "Cividis": ("", "cividis"),
    "RdBu": ("053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f", "RdBu_r"),
    "Plasma": ("0d0887 41049d 6a00a8 8f0da4 b12a90 cc4778 e16462 f2844b fca636 fcce25 f0f921", "plasma"),
}


@dataclass(frozen=True)
class Extent:
    """Where the cells of a plane lie, along its horizontal and its vertical axis.

    Attributes:
        first, step: centre of the first cell, and distance of two. labels: of both axes, with their units. units: of
            places. borders: edges of the whole plane, of which values at the end may be left out.
        down: whether the second axis goes down.
        levels: edges of the cells along the second axis, where these are not equal; None: they are.
    """

    first: tuple[float, float]
    step: tuple[float, float]
    labels: tuple[str, str]
    units: tuple[str, str]
    borders: tuple[tuple[float, float], tuple[float, float]]
    down: bool = False
    levels: npt.NDArray[np.float64] | None = None

    def of_blocks(self, blocks: Sequence[int]) -> Self:
        """Of means over blocks of so many cells along both axes."""
        first = tuple(a + 0.5 * (n - 1) * h for a, n, h in zip(self.first, blocks, self.step, strict=True))
        step = tuple(n * h for n, h in zip(blocks, self.step, strict=True))
        return replace(self, first=(first[0], first[1]), step=(step[0], step[1]))

    def centres(self, shape: Sequence[int]) -> list[npt.NDArray[np.float64]]:
        """Places of so many cells along both axes."""
        places = zip(self.first, self.step, shape, strict=True)
        return [np.asarray(a + h * np.arange(n), np.float64) for a, h, n in places]

    @property
    def ratio(self) -> tuple[float, bool]:
        """Height over width of a drawing, and whether both axes have one scale then."""
        if self.units[0] != self.units[1]:
            return OTHER_UNITS, True
        (left, right), (low, high) = self.borders
        true = abs(high - low) / (right - left)
        return min(max(true, LOWEST), TALLEST), LOWEST <= true <= TALLEST


@dataclass(frozen=True, eq=False)
class Arrows:
    """Velocities on a plane: along both axes, m/s, NaN where there are none, and where they lie."""

    u: Values
    v: Values
    extent: Extent


@dataclass(frozen=True, eq=False)
class Plane:
    """A field on a plane at some times.

    Attributes:
        name: with its unit. parts: values (first axis, second axis) at each time, NaN where there is none.
        blocks: cells along both axes of which each value is the mean.
        colours: one of COLOURS. diverging: whether these have their middle at 0. may_be_log: whether they may be
            logarithmic. robust: whether a few values that are far from all others may be beyond the colours.
        contours: whether the picture has some. arrows: over the last part, in the picture.
    """

    name: str
    parts: tuple[Values, ...]
    extent: Extent
    blocks: tuple[int, int] = (1, 1)
    colours: str = "Viridis"
    diverging: bool = False
    may_be_log: bool = False
    robust: bool = False
    contours: bool = False
    arrows: Arrows | None = None

    @cached_property
    def _whole(self) -> Scale:
        return range_of(self.parts, self.may_be_log)

    @cached_property
    def scale(self) -> Scale:
        """The range of all parts, or of nearly all of their values."""
        whole = self._whole
        if not self.robust or whole.plain or whole.log:
            return whole
        values = np.concatenate([part[np.isfinite(part)] for part in self.parts])
        low, high = (float(end) for end in np.quantile(values, (OUTER, 1 - OUTER)))
        return replace(whole, low=low, high=high) if 0 < high - low < 0.5 * (whole.high - whole.low) else whole

    @property
    def beyond(self) -> bool:
        """Whether some values are beyond the colours."""
        return self.scale is not self._whole

    @property
    def label(self) -> str:
        """The name, and what there is to say of its values."""
        whole = self._whole
        if self.beyond:
            return f"{self.name}, {whole.low:.3g} to {whole.high:.3g}"
        return whole.told(self.name)

    @property
    def range(self) -> Scale:
        """That of the colours."""
        if not self.diverging or self.scale.plain:
            return self.scale
        most = max(abs(self.scale.low), abs(self.scale.high))
        return replace(self.scale, low=-most, high=most)

    def last(self) -> Self:
        """At the last time alone."""
        return replace(self, parts=self.parts[-1:])


def thinned(values: Values, most: int) -> tuple[Values, tuple[int, int]]:
    """Means over blocks of cells to at most `most` a side, of the cells that have a value, and the cells of a block."""
    known = np.isfinite(values)
    share, _ = downsampled(known.astype(np.float64), most)
    means, blocks = downsampled(np.where(known, values, 0.0), most)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(share > 0, means / share, np.nan).astype(np.float32), blocks


def notes_of(planes: Sequence[Plane], times: int, no_value: str) -> list[str]:
    """What is to be said below some planes. no_value: what grey means."""
    blocks = planes[0].blocks
    notes = []
    if max(blocks) > 1:
        notes.append(f"Means of {' × '.join(map(str, blocks))} cells.")
    if times > 1:
        notes.append("Colours have the same range at all times.")
    if not planes[0].extent.ratio[1]:
        notes.append("The axes are not at one scale.")
    if any(one.beyond for one in planes):
        notes.append("Where a title tells a range, colours end within it: few values are beyond them.")
    if any(one.scale.holes for one in planes):
        notes.append(f"Grey: {no_value}.")
    return notes


def planes_panel(
    name: str,
    title: str,
    planes: Sequence[Plane],
    times: Sequence[float],
    no_value: str,
    *,
    first: Sequence[str] = (),
    least: int | None = None,
    unit: str = "s",
) -> Panel:
    """The panel of the page, with a choice of the time.

    Args:
        times: of the parts. no_value: what grey means. first: of the notes below. least: width of a plot, pixels.
        unit: of the times.
    """
    planes = [_level(one) for one in planes]
    notes = [*first, *notes_of(planes, len(times), no_value)]
    extent, (columns, rows) = planes[0].extent, planes[0].parts[-1].shape
    texts = times_text(times, unit)
    fields = []
    for one in planes:
        entry = field_entry(one.label, one.parts, one.range)
        if one.colours != "Viridis":
            entry["colours"] = _plotly(one.colours)
        if one.extent.first != extent.first:
            entry["first"] = list(one.extent.first)
        fields.append(entry)
    panel = {
        "kind": "fields",
        "name": name,
        "title": title if len(times) > 1 else f"{title} at {texts[0]}",
        "caption": " ".join(notes),
        "labels": list(extent.labels),
        "units": list(extent.units),
        "down": extent.down,
        "x": [extent.first[0], extent.step[0]],
        "y": [extent.first[1], extent.step[1]],
        "shape": [rows, columns],
        "ratio": extent.ratio[0],
        "choice": "time",
        "choices": texts,
        "fields": fields,
    }
    return panel if least is None else panel | {"least": least}


def _level(plane: Plane) -> Plane:
    """Unequal levels as equal rows, each of the level that it lies in."""
    levels = plane.extent.levels
    if levels is None:
        return plane
    depth = float(levels[-1] - levels[0])
    rows = min(LEVEL_ROWS, max(8, round(depth / float(np.diff(levels).min()))))
    places = levels[0] + (np.arange(rows) + 0.5) * depth / rows
    level = np.searchsorted(levels, places, side="right") - 1
    parts = tuple(np.asarray(part[:, np.minimum(level, part.shape[1] - 1)]) for part in plane.parts)
    extent = replace(
        plane.extent,
        first=(plane.extent.first[0], float(places[0])),
        step=(plane.extent.step[0], depth / rows),
        levels=None,
    )
    return replace(plane, parts=parts, extent=extent)


def _plotly(colours: str) -> Any:
    stops = COLOURS[colours][0].split()
    return [[n / (len(stops) - 1), f"#{stop}"] for n, stop in enumerate(stops)] if stops else colours


def planes_figure(
    subject: str,
    planes: Sequence[Plane],
    times: Sequence[float],
    no_value: str,
    *,
    first: Sequence[str] = (),
    width: float = WIDTH,
    columns: int | None = None,
    compared: int = 0,
    unit: str = "s",
) -> Figure:
    """The picture of planes at the last time.

    Args:
        times: of their parts. no_value: what grey means. first: of the notes below the title.
        width: inches of a panel. columns: of panels; None: as many as suit.
        compared: up to so many planes are drawn at all of their times, one below the other. unit: of the times.
    """
    compare = len(planes) <= compared and len(times) > 1
    if not compare:
        planes, times = [one.last() for one in planes], times[-1:]
    texts = times_text(times, unit)
    notes = [*first, *notes_of(planes, len(times), no_value)]
    columns = columns or columns_for(len(planes))
    rows = len(times) if compare else -(-len(planes) // columns)
    with sheet.style():
        layout = PanelGrid(rows, columns, width, width * planes[0].extent.ratio[0])
        below = "; ".join(note[0].lower() + note[1:].removesuffix(".") for note in notes)
        figure = layout.figure(f"{subject} at {' and '.join(texts)}", below)
        for number, one in enumerate(planes):
            for row, values in enumerate(one.parts):
                left, top = layout.place(*((row, number) if compare else divmod(number, columns)))
                axes = sheet.place(figure, left, top, layout.width, layout.height)
                shown = _draw(axes, one, values)
                if one.arrows is not None:
                    _arrows(axes, one.arrows, width, layout.height)
                axes.set_title(one.label + (f", {texts[row]}" if compare else ""), loc="left")
                if not one.scale.plain:
                    _bar(figure, shown, one.range, left + layout.width + 0.12, top, layout.height)
    return figure


def _draw(axes: Axes, plane: Plane, values: Values) -> Any:
    """One plane at one time; what a colour bar is made of."""
    import matplotlib
    from matplotlib.colors import LogNorm, Normalize

    extent, scale = plane.extent, plane.range
    axes.set_facecolor(NO_VALUE)
    norm = LogNorm(scale.low, scale.high) if scale.log else Normalize(scale.low, scale.high)
    colours: dict[str, Any] = {"cmap": matplotlib.colormaps[COLOURS[plane.colours][1]], "norm": norm}
    masked = np.ma.masked_invalid(values.T)
    x, y = extent.centres(values.shape)
    if extent.levels is not None:
        edges = np.append(x, x[-1] + extent.step[0]) - 0.5 * extent.step[0]
        shown: Any = axes.pcolormesh(edges, extent.levels, masked, shading="flat", **colours)
    else:
        half = [0.5 * h for h in extent.step]
        shown = axes.imshow(
            masked,
            extent=(x[0] - half[0], x[-1] + half[0], y[0] - half[1], y[-1] + half[1]),
            origin="lower",
            aspect="auto",
            interpolation="nearest" if max(values.shape) < 400 else "auto",
            interpolation_stage="data",
            **colours,
        )
    if plane.contours and not plane.scale.plain and min(values.shape) > 1:
        axes.contour(x, y, masked, CONTOURS, colors="#222222", linewidths=0.5)
    (left, right), (low, high) = extent.borders
    axes.set_xlim(left, right)
    axes.set_ylim(*((high, low) if extent.down else (low, high)))
    axes.set_xlabel(extent.labels[0])
    axes.set_ylabel(extent.labels[1])
    ticks(axes)
    return shown


def _bar(figure: Figure, shown: Any, scale: Scale, left: float, top: float, height: float) -> None:
    """The colour bar beside a panel."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    bar = figure.colorbar(shown, cax=sheet.place(figure, left, top, 0.14, height))
    bar.outline.set_linewidth(0.6)
    if not scale.log:
        bar.ax.yaxis.set_major_locator(MaxNLocator(nbins=max(2, int(height / 0.4)), steps=[1, 2, 5, 10]))
        return
    first, last = math.ceil(math.log10(scale.low)), math.floor(math.log10(scale.high))
    step = max(1, -(-(last - first + 1) // max(2, int(height / 0.3))))
    bar.ax.yaxis.set_major_locator(FixedLocator([10.0**n for n in range(first, last + 1, step)]))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: power(round(math.log10(value)))))
    bar.ax.yaxis.set_minor_locator(NullLocator())


def _arrows(axes: Axes, arrows: Arrows, width: float, height: float) -> None:
    """Velocities, means over square blocks of cells, and the length of one above the panel of so many inches."""
    most = max(2, min(ARROWS, max(arrows.u.shape)))
    cells = -(-max(arrows.u.shape) // most)
    u, v = (_means(values, cells) for values in (arrows.u, arrows.v))
    speed = np.hypot(u, v)
    fast = speed[np.isfinite(speed) & (speed > 0)]
    if not fast.size:
        return
    unit = _round(float(np.percentile(fast, 95)))
    x, y = arrows.extent.of_blocks((cells, cells)).centres(u.shape)
    drawn = axes.quiver(
        x,
        y,
        np.ma.masked_invalid(u.T),
        np.ma.masked_invalid(v.T),
        scale=unit / (1.1 * width / ARROWS),
        scale_units="inches",
        units="inches",
        width=0.014,
        headwidth=4,
        color="#1a1a1a",
        minlength=0.5,
    )
    above = 1.0 + 0.14 / height
    axes.quiverkey(
        drawn, 0.9, above, unit, f"{unit:g} m/s", labelpos="W", coordinates="axes", fontproperties={"size": 8}
    )


def _means(values: Values, cells: int) -> Values:
    """Over blocks of so many cells along both axes, at least half of which have a value."""
    n, m = (max(1, count // cells) for count in values.shape)
    across, along = (min(cells, count) for count in values.shape)
    parts = values[: n * across, : m * along].reshape(n, across, m, along).astype(np.float64)
    known = np.isfinite(parts)
    count = known.sum(axis=(1, 3))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(known, parts, 0.0).sum(axis=(1, 3)) / count
    return np.where(2 * count >= across * along, means, np.nan).astype(np.float32)


def _round(value: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten."""
    size = 10.0 ** np.floor(np.log10(value))
    return float(min((1.0, 2.0, 5.0, 10.0), key=lambda n: abs(np.log(n * size / value))) * size)
