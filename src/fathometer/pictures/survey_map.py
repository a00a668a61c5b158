"""Picture of a survey: map of sources and receivers, fold, distribution of offsets, and one gather."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.base.display import Display
from fathometer.pictures import sheet
from fathometer.pictures.gather import draw_traces, gather_words
from fathometer.pictures.panel_layout import colour_bar
from fathometer.pictures.plane import Values
from fathometer.pictures.section import RECEIVER, SOURCE, thousands, ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = npt.NDArray[np.float64]

MAP, BAR, STRIP, GATHER = 5.2, 0.14, 2.2, 5.2  # inches: sides of the maps, colour bar, histograms, width of the gather
# Inches at the left, for coordinates of seven digits, and between panels side by side and one above another.
LEFT, ACROSS, BETWEEN = 1.15, 1.55, 0.95
MOST_BINS, FEW_BINS = 120, 60  # along a side of the fold; of the offsets
LINE_WIDTH = 0.06  # of a survey's length, up to which its width makes it a line
STEP_TOLERANCE = 0.02  # of a step, by which multiples of it may differ
REGULAR = 0.9  # part of the steps that must be multiples of the median one, for values to be regular
ROUND_NUMBERS = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST_MARKERS = 20_000
TRACES = "traces"  # axis of counts


@dataclass(frozen=True)
class Bins:
    """Edges (n + 1,) of bins in m, and how many steps of the values each holds (1 where those are irregular)."""

    edges: Points
    steps: int

    @property
    def step(self) -> float:
        """Size of a bin by one step of the values, m."""
        return float(self.edges[1] - self.edges[0]) / self.steps


@dataclass(frozen=True)
class Fold:
    """Midpoints in a bin of one step of theirs: the mean over the steps within each of the bins x, y.

    Attributes:
        counts: (nx, ny).
    """

    counts: Points
    x: Bins
    y: Bins

    @property
    def words(self) -> str:
        """Description of the bins."""
        x, y = (f"{bins.step:.6g} m" for bins in (self.x, self.y))
        many = "" if self.x.steps == self.y.steps == 1 else f", mean of {self.x.steps} × {self.y.steps}"
        return f"bins of {x}{many}" if x == y else f"bins of {x} × {y}{many}"


@dataclass(frozen=True)
class ShownGather:
    """Traces (n, samples) in the order of their offsets (n,), m."""

    title: str
    traces: Values
    offsets: Points
    interval: float  # s
    start: float  # s


def bins_of(values: Points, most: int = MOST_BINS) -> Bins:
    """At most about `most` bins that hold all of `values` (n,), m.

    Where values are regular, a bin holds a whole number of their steps, with edges between them, so that bins don't
    alias with the survey's geometry. Elsewhere the size of a bin is a round number.

    >>> bins_of(np.array([0.0, 12.5, 25.0, 25.0])).edges
    array([-6.25,  6.25, 18.75, 31.25])
    """
    positions = np.unique(np.round(values, 3))
    extent = float(np.ptp(positions))
    if extent == 0.0:
        return Bins(np.asarray(positions[0] + np.array([-0.5, 0.5])), 1)
    steps = np.diff(positions)
    step = float(np.median(steps))
    wanted = extent / most
    if np.count_nonzero(np.abs(steps / step - np.round(steps / step)) < STEP_TOLERANCE) > REGULAR * len(steps):
        many = max(1, math.ceil(wanted / step))
    else:
        power: float = 10.0 ** math.floor(math.log10(wanted))
        step, many = power * next(number for number in ROUND_NUMBERS if number * power >= wanted * 0.999), 1
    count = math.ceil((extent + step) / (many * step) - STEP_TOLERANCE)
    return Bins(np.asarray(positions[0] - step / 2 + many * step * np.arange(count + 1)), many)


def fold_of(midpoints: Points) -> Fold:
    """The fold of midpoints (n, 2), m."""
    x, y = (bins_of(midpoints[:, axis]) for axis in range(2))
    counts, _, _ = np.histogram2d(midpoints[:, 0], midpoints[:, 1], bins=(x.edges, y.edges))
    return Fold(counts / (x.steps * y.steps), x, y)


def survey_figure(sources: Points, receivers: Points, traces: tuple[Points, Points], gather: ShownGather | None,
                  title: str, note: str = "") -> Figure:  # fmt: skip
    """The figure that `survey_picture` writes."""
    midpoints, offsets = traces
    fold = fold_of(midpoints)
    around = np.concatenate([sources[:, :2], receivers[:, :2]])
    spread = np.ptp(around, axis=0)
    line = float(spread.min()) <= LINE_WIDTH * float(spread.max())
    along = int(np.argmax(spread))
    with sheet.style():
        top = STRIP if line else MAP
        beside = GATHER + ACROSS + sheet.BAR - 0.3 if gather is not None else 0.0
        if gather is not None:
            note = f"{note}; gather: {gather_words(len(gather.traces), Display())}".removeprefix("; ")
        width = LEFT + 2 * MAP + ACROSS + beside + 0.6
        figure = sheet.sheet(width, sheet.TOP + 2 * sheet.NAME + top + BETWEEN + STRIP + sheet.BOTTOM, title, 0.0, note)
        upper = sheet.TOP + sheet.NAME
        lower = upper + top + BETWEEN
        right = LEFT + MAP + ACROSS
        if line:
            _line(sheet.place(figure, LEFT, upper, MAP, top), sources, receivers, along)
            _profile(sheet.place(figure, right, upper, MAP, top), midpoints[:, along], along)
        else:
            lo, hi = around.min(axis=0), around.max(axis=0)
            limits = _square(lo, hi)
            axes = sheet.place(figure, LEFT, upper, MAP, top)
            _map(axes, sources, receivers, limits)
            _fold(figure, sheet.place(figure, right, upper, MAP, top), fold, limits, (right + MAP + 0.1, upper, top))
        _offsets(sheet.place(figure, LEFT, lower, MAP, STRIP), offsets)
        _coverage(sheet.place(figure, right, lower, MAP, STRIP), midpoints[:, along], offsets, along)
        if gather is not None:
            _gather(figure, (right + MAP + ACROSS, upper, top + BETWEEN + STRIP), gather)
    return figure


def _square(lo: Points, hi: Points) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits of x and y at one scale, with a margin."""
    reach = 0.53 * float((hi - lo).max()) or 50.0
    (x0, y0), (x1, y1) = ((lo + hi) / 2 - reach).tolist(), ((lo + hi) / 2 + reach).tolist()
    return (x0, x1), (y0, y1)


def _map(
    axes: Axes, sources: Points, receivers: Points, limits: tuple[tuple[float, float], tuple[float, float]]
) -> None:
    for points, colour, name, size, rank in (
        (receivers, RECEIVER, "receivers", 3.0, 2),
        (sources, SOURCE, "sources", 3.0, 3),
    ):
        shown = points[:: -(-len(points) // MOST_MARKERS)]
        size = max(0.8, min(size, 150.0 / math.sqrt(len(shown))))
        axes.plot(shown[:, 0], shown[:, 1], ".", color=colour, markersize=size, markeredgewidth=0, zorder=rank,
                  label=f"{thousands(len(points))} {name if len(points) > 1 else name[:-1]}")  # fmt: skip
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    _plain(axes, "map", "x (m)", "y (m)")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.15, columnspacing=1.0,
                handletextpad=0.2, markerscale=3.0)  # fmt: skip


def _line(axes: Axes, sources: Points, receivers: Points, along: int) -> None:
    """Map of a line's sources and receivers; the coordinate across the line has a scale of its own."""
    beside = 1 - along
    for points, colour, marker, name, size in (
        (receivers, RECEIVER, ".", "receivers", 5.0),
        (sources, SOURCE, "*", "sources", 8.0),
    ):
        shown = points[:: -(-len(points) // MOST_MARKERS)]
        axes.plot(shown[:, along], shown[:, beside], marker, color=colour, markersize=size, markeredgewidth=0,
                  label=f"{thousands(len(points))} {name if len(points) > 1 else name[:-1]}")  # fmt: skip
    low, high = axes.get_ylim()
    if high - low < 20.0:
        axes.set_ylim((low + high) / 2 - 10.0, (low + high) / 2 + 10.0)
    _plain(axes, "map, stretched across the line", f"{'xy'[along]} (m)", f"{'xy'[beside]} (m)")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.15, handletextpad=0.2)


def _profile(axes: Axes, places: Points, along: int) -> None:
    """The fold of a line along it."""
    bins = bins_of(places, 4 * MOST_BINS)
    axes.stairs(np.histogram(places, bins.edges)[0] / bins.steps, bins.edges, color=RECEIVER, fill=True)
    axes.set_ylim(bottom=0)
    many = f", mean of {bins.steps}" if bins.steps > 1 else ""
    _plain(axes, f"fold, bins of {bins.step:.6g} m{many}", f"{'xy'[along]} of midpoints (m)", TRACES)


def _fold(
    figure: Figure,
    axes: Axes,
    fold: Fold,
    limits: tuple[tuple[float, float], tuple[float, float]],
    bar: tuple[float, float, float],
) -> None:
    from fathometer.pictures.colours import property_colours

    shown = np.where(fold.counts > 0, fold.counts, np.nan)
    drawn = axes.pcolormesh(fold.x.edges, fold.y.edges, shown.T, cmap=property_colours(), vmin=0, rasterized=True)
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    _plain(axes, f"fold, {fold.words}", "x (m)", "y (m)")
    left, top, height = bar
    colours = figure.colorbar(drawn, cax=sheet.place(figure, left, top, BAR, height))
    colours.ax.tick_params(labelsize=8)
    colours.outline.set_linewidth(0.6)


def _offsets(axes: Axes, offsets: Points) -> None:
    edges = bins_of(offsets, FEW_BINS).edges
    axes.stairs(np.histogram(offsets, edges)[0], edges, color=RECEIVER, fill=True)
    axes.set_ylim(bottom=0)
    axes.set_xlim(0.0, float(edges[-1]))
    _plain(axes, f"offsets, bins of {edges[1] - edges[0]:.6g} m", "offset (m)", TRACES)


def _coverage(axes: Axes, places: Points, offsets: Points, along: int) -> None:
    """Offsets by position along the survey, which shows gaps."""
    from fathometer.pictures.colours import property_colours

    counts, x, y = np.histogram2d(places, offsets, (bins_of(places, FEW_BINS).edges, bins_of(offsets, FEW_BINS).edges))
    axes.pcolormesh(x, y, np.where(counts > 0, counts, np.nan).T, cmap=property_colours(), vmin=0, rasterized=True)
    axes.set_xlim(float(x[0]), float(x[-1]))
    axes.set_ylim(0.0, float(y[-1]))
    _plain(
        axes,
        f"offsets along the survey, up to {int(counts.max())} traces a bin",
        f"{'xy'[along]} of midpoints (m)",
        "offset (m)",
    )


def _gather(figure: Figure, place: tuple[float, float, float], gather: ShownGather) -> None:
    """Traces side by side in the order of their offsets, time down; place: left, top and height, inches."""
    left, top, height = place
    axes = sheet.place(figure, left, top, GATHER, height)
    count = len(gather.traces)
    drawn = draw_traces(axes, gather.traces, gather.interval, gather.start, (1.0, float(count)), Display())
    _plain(axes, gather.title, "offset (m), traces in the order of their offsets", "time (s)")
    ticked = np.unique(np.linspace(0, count - 1, min(count, 7)).astype(int))  # numbers of traces
    axes.set_xticks(ticked + 1, [thousands(round(float(gather.offsets[trace]))) for trace in ticked])
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    axes.yaxis.set_major_locator(MaxNLocator(nbins=10, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(ScalarFormatter())
    if drawn is not None:
        colour_bar(figure, drawn, "amplitude", left + GATHER + 0.15, top, height)


def _plain(axes: Axes, title: str, across: str, up: str) -> None:
    ticks(axes, (False, up == TRACES))
    axes.set_title(title, loc="left")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(color="#00000020", linewidth=0.6)


def survey_picture(
    path: Path,
    sources: Points,
    receivers: Points,
    traces: tuple[Points, Points],
    gather: ShownGather | None,
    title: str,
    note: str = "",
) -> None:
    """Draw the map of a survey, its fold, its offsets and a gather into a PNG.

    sources, receivers: distinct positions, (n, 2) in m. traces: midpoints (n, 2) and offsets (n,) in m of all traces.
    Raises FathometerError where the file can't be written.
    """
    sheet.save(survey_figure(sources, receivers, traces, gather, title, note), path)
