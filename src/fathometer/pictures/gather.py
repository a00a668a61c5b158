"""Picture of a gather, time down, with an optional map of sources and receivers.

Few traces are drawn as wiggles, their peaks filled, many as variable density.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.base.display import Display
from fathometer.pictures import sheet
from fathometer.pictures.colours import SIGNS, seismic_colours, symmetric_range
from fathometer.pictures.gain import AGC_WINDOW, agc, depth_gain, gain_words
from fathometer.pictures.panel_layout import colour_bar
from fathometer.pictures.plane import Values, downsampled
from fathometer.pictures.section import RECEIVER, SOURCE, thinned, thousands, ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Points = npt.NDArray[np.float64]
CLIP_PERCENTILE = 98.0
MOST_TRACES = 4800  # of one gather: twice what a picture shows
FEW_TRACES = 60  # up to which a gather is drawn as wiggles
SAME_LINE = 0.01  # m: receivers whose x or y differ less lie on one line
LINE_RECEIVERS = 4  # of a line, on average at least: fewer are no lines
REACH = 1.5  # distances of two traces, beyond which a wiggle is cut
WIDTH, HEIGHT, MAP = 7.0, 6.0, 3.4  # inches
EVEN_TOLERANCE = 0.05  # of the mean step, by which steps between even positions may differ


def gather_figure(
    traces: Values,
    interval: float,
    start: float,
    positions: Points | None,
    title: str,
    label: str = "offset (m)",
    geometry: tuple[Points, Points] | None = None,
    unit: str = "",
    display: Display | None = None,
) -> Figure:
    """The figure that `gather_picture` writes."""
    if traces.ndim != 2 or 0 in traces.shape or interval <= 0.0:
        raise ValueError(f"a gather needs traces (n, ns) and a positive interval, not {traces.shape}, {interval} s")
    count = len(traces)
    if positions is not None and len(positions) != count:
        raise ValueError(f"{count} traces have {len(positions)} positions")
    display = display or Display()
    even = positions is not None and _even(positions)
    from matplotlib.ticker import ScalarFormatter

    note = gather_words(count, display)
    with sheet.style():
        bar = sheet.BAR if count > FEW_TRACES else 0.0
        width = sheet.LEFT + WIDTH + max(bar, sheet.RIGHT) + (MAP + 0.8 if geometry else 0.0)
        top = sheet.note_height(note, width)
        figure = sheet.sheet(width, top + HEIGHT + sheet.BOTTOM, title, 0.0, note)
        axes = sheet.place(figure, sheet.LEFT, top, WIDTH, HEIGHT)
        ends = (float(positions[0]), float(positions[-1])) if even and positions is not None else (1.0, float(count))
        drawn = draw_traces(axes, traces, interval, start, ends, display)
        ticks(axes)
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.set_ylabel("time (s)")
        if even or positions is None:
            axes.set_xlabel(label if even else "channel")
        else:
            _uneven_axis(axes, positions, label)
        axes.grid(axis="y", color="#00000030", linewidth=0.6)
        if drawn is not None:
            gained = display.gain != "none"
            words = "amplitude after gain" if gained else f"amplitude ({unit})" if unit else "amplitude"
            colour_bar(figure, drawn, words, sheet.LEFT + WIDTH + 0.2, top, HEIGHT)
        if geometry:
            _map(figure, geometry, sheet.LEFT + WIDTH + max(bar, sheet.RIGHT) + 0.7, top)
    return figure


def gather_words(count: int, display: Display) -> str:
    """The note of a picture on how so many traces are drawn."""
    clip = display.clip or CLIP_PERCENTILE
    if count > FEW_TRACES:
        return f"{gain_words(display.gain, clip, 'time')}; {SIGNS[display.colours]}"
    gained = {"none": "no gain", "balance": "balanced over time", "agc": f"AGC over {AGC_WINDOW:g} s"}[display.gain]
    return f"{gained}; distance of two traces: the {clip:g}th percentile of all magnitudes; filled: positive"


def draw_traces(
    axes: Axes, traces: Values, interval: float, start: float, ends: tuple[float, float], display: Display
) -> AxesImage | None:
    """Draw traces (n, ns) at equal distances between `ends`, the first and the last one's place: wiggles where they are
    few, else variable density; of the latter the image, for a colour bar. interval, start: s."""
    count, samples = traces.shape
    traces = _gained(traces, interval, display)
    first, last = ends
    step = (last - first) / (count - 1) if count > 1 else 1.0
    bottom = start + (samples - 1) * interval if samples > 1 else start + interval / 2
    clip = symmetric_range([traces], display.clip or CLIP_PERCENTILE)
    axes.set_xlim(first - step / 2, last + step / 2)
    if count <= FEW_TRACES:
        _wiggles(
            axes, np.clip(np.nan_to_num(traces) / clip, -REACH, REACH), start + interval * np.arange(samples), ends
        )
        axes.set_ylim(bottom, start)
        return None
    shown, (_, fold) = downsampled(traces)
    edge = start + (shown.shape[1] * fold - 0.5) * interval
    drawn = axes.imshow(
        np.asarray(shown, dtype=np.float32).T,
        cmap=seismic_colours(display.colours),
        vmin=-clip,
        vmax=clip,
        extent=(first - step / 2, last + step / 2, edge, start - interval / 2),
        origin="upper",
        aspect="auto",
        interpolation="auto",
    )
    axes.set_ylim(bottom, start)
    return drawn


def _gained(traces: Values, interval: float, display: Display) -> Values:
    if display.gain == "agc":
        return agc(traces, interval)
    if display.gain == "balance":
        return traces * depth_gain([traces], [np.ones(traces.shape, np.bool_)])
    return traces


def _wiggles(axes: Axes, traces: Values, times: Values, ends: tuple[float, float]) -> None:
    """Draw traces (n, ns), in distances of two, as lines whose peaks are filled."""
    places = np.linspace(*ends, len(traces))
    step = (ends[1] - ends[0]) / (len(traces) - 1) if len(traces) > 1 else 1.0
    for place, trace in zip(places, traces, strict=True):
        line = place + abs(step) * trace
        axes.plot(line, times, color=sheet.INK, linewidth=0.5, zorder=2)
        axes.fill_betweenx(
            times, place, line, where=trace > 0.0, interpolate=True, color=sheet.INK, linewidth=0.0, zorder=2
        )


def _even(positions: Points) -> bool:
    """Whether positions (n,) follow each other in equal steps."""
    steps = np.diff(positions)
    if len(steps) == 0 or steps[0] == 0.0:
        return False
    return bool(np.all(np.abs(steps - steps.mean()) <= EVEN_TOLERANCE * abs(steps.mean())))


def _uneven_axis(axes: Axes, positions: Points, label: str) -> None:
    """Label the axis of traces in recorded order: each tick has the position of its trace."""
    from matplotlib.ticker import FuncFormatter

    def position(channel: float, _: object) -> str:
        index = round(channel) - 1
        return thousands(round(float(positions[index]))) if 0 <= index < len(positions) else ""

    axes.xaxis.set_major_formatter(FuncFormatter(position))
    axes.set_xlabel(f"{label}, in the order of the channels")


def _map(figure: Figure, geometry: tuple[Points, Points], left: float, top: float) -> None:
    """Draw a map of sources and receivers, at one scale in x and y, inches from the figure's upper left corner."""
    sources, receivers = (np.asarray(points, dtype=np.float64) for points in geometry)
    axes = sheet.place(figure, left, top + sheet.NAME, MAP, MAP)
    shown = thinned(receivers)
    axes.plot(shown[:, 0], shown[:, 1], ".", color=RECEIVER, markersize=4, label=f"{len(receivers)} receivers")
    shown = thinned(sources)
    word = "source" if len(sources) == 1 else "sources"
    axes.plot(shown[:, 0], shown[:, 1], "*", color=SOURCE, markersize=11, label=f"{len(sources)} {word}")
    middle = [(points.min() + points.max()) / 2 for points in np.vstack([sources, receivers])[:, :2].T]
    reach = 0.55 * max(float(np.ptp(np.vstack([sources, receivers])[:, axis])) for axis in (0, 1)) or 50.0
    axes.set_xlim(middle[0] - reach, middle[0] + reach)
    axes.set_ylim(middle[1] - reach, middle[1] + reach)
    ticks(axes)
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    axes.set_title("map", loc="left")
    axes.grid(color="#00000020", linewidth=0.6)
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.18), borderaxespad=0.0)


def gather_picture(
    path: Path,
    traces: Values,
    interval: float,
    start: float,
    positions: Points | None,
    title: str,
    label: str = "offset (m)",
    geometry: tuple[Points, Points] | None = None,
    unit: str = "",
    display: Display | None = None,
) -> None:
    """Draw traces (n, ns), time down, into a .png, .pdf or .svg, as `display` says; by default without gain, clipped at
    the 98th percentile.

    interval and start (of the first sample) in s; positions (n,) in m, named by `label`, or None to number
    the channels. geometry: sources and receivers, each (n, 3) in m, for a map beside it. unit: of the amplitudes.
    Raises ValueError for what doesn't fit, FathometerError where the file can't be written.
    """
    sheet.save(
        gather_figure(
            traces=traces,
            interval=interval,
            start=start,
            positions=positions,
            title=title,
            label=label,
            geometry=geometry,
            unit=unit,
            display=display,
        ),
        path,
    )


def signed_offsets(source: Points, receivers: Points) -> Points:
    """Horizontal distances (n,) in m of receivers from sources, positions (n, 2 or more); negative for receivers at
    smaller x, or y where they spread further along y.
    """
    vectors = (receivers - source)[:, :2]
    axis = int(np.argmax(np.ptp(vectors, axis=0)))
    offsets: Points = np.hypot(vectors[:, 0], vectors[:, 1]) * np.where(vectors[:, axis] < 0.0, -1.0, 1.0)
    return offsets


def receiver_line(source: Points, receivers: Points) -> tuple[int, npt.NDArray[np.intp]]:
    """Which coordinate (0: x, 1: y) of a shot's receivers (n, 2 or more) is the same along lines of them, and those
    (k,) of the line nearest the source, in their order; all where they form no such lines, or one."""
    every = np.arange(len(receivers))
    for across in (1, 0):
        lines = np.round(receivers[:, across] / SAME_LINE)
        places = np.unique(lines)
        if 1 < len(places) <= len(every) / LINE_RECEIVERS:
            nearest = places[np.argmin(np.abs(places * SAME_LINE - source[across]))]
            return across, np.flatnonzero(lines == nearest)
    return 1, every
