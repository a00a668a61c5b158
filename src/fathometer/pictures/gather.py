"""Picture of a gather: variable density, time down, with an optional map of sources and receivers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.pictures import sheet
from fathometer.pictures.colours import symmetric_range
from fathometer.pictures.plane import Values, downsampled
from fathometer.pictures.section import RECEIVER, SOURCE, thinned, thousands, ticks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = npt.NDArray[np.float64]
CLIP_PERCENTILE = 98.0
MOST_TRACES = 4800  # of one gather: twice what a picture shows
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
) -> Figure:
    """The figure that `gather_picture` writes."""
    if traces.ndim != 2 or 0 in traces.shape or interval <= 0.0:
        raise ValueError(f"a gather needs traces (n, ns) and a positive interval, not {traces.shape}, {interval} s")
    count, samples = traces.shape
    if positions is not None and len(positions) != count:
        raise ValueError(f"{count} traces have {len(positions)} positions")
    even = positions is not None and _even(positions)
    shown, (_, fold) = downsampled(traces)
    clip = symmetric_range([traces], CLIP_PERCENTILE)
    from matplotlib.ticker import ScalarFormatter

    with sheet.style():
        width = sheet.LEFT + WIDTH + sheet.RIGHT + (MAP + 0.8 if geometry else 0.0)
        figure = sheet.sheet(width, sheet.TOP + HEIGHT + sheet.BOTTOM, title)
        axes = sheet.place(figure, sheet.LEFT, sheet.TOP, WIDTH, HEIGHT)
        first, last = (float(positions[0]), float(positions[-1])) if even and positions is not None else (1, count)
        half = (last - first) / (2 * (count - 1)) if count > 1 else 0.5
        bottom = start + (shown.shape[1] * fold - 0.5) * interval
        axes.imshow(
            np.asarray(shown, dtype=np.float32).T,
            cmap="gray_r",
            vmin=-clip,
            vmax=clip,
            extent=(first - half, last + half, bottom, start - interval / 2),
            origin="upper",
            aspect="auto",
            interpolation="auto",
        )
        axes.set_ylim(start + (samples - 1) * interval if samples > 1 else bottom, start)
        ticks(axes)
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.set_ylabel("time (s)")
        if even or positions is None:
            axes.set_xlabel(label if even else "channel")
        else:
            _uneven_axis(figure, positions, label)
        axes.grid(axis="y", color="#00000030", linewidth=0.6)
        if geometry:
            _map(figure, geometry)
    return figure


def _even(positions: Points) -> bool:
    """Whether positions (n,) follow each other in equal steps."""
    steps = np.diff(positions)
    if len(steps) == 0 or steps[0] == 0.0:
        return False
    return bool(np.all(np.abs(steps - steps.mean()) <= EVEN_TOLERANCE * abs(steps.mean())))


def _uneven_axis(figure: Figure, positions: Points, label: str) -> None:
    """Label the axis of traces in recorded order: each tick has the position of its trace."""
    from matplotlib.ticker import FuncFormatter

    def position(channel: float, _: object) -> str:
        index = round(channel) - 1
        return thousands(round(float(positions[index]))) if 0 <= index < len(positions) else ""

    axes = figure.axes[0]
    axes.xaxis.set_major_formatter(FuncFormatter(position))
    axes.set_xlabel(f"{label}, in the order of the channels")


def _map(figure: Figure, geometry: tuple[Points, Points]) -> None:
    """Draw a map of sources and receivers, at one scale in x and y."""
    sources, receivers = (np.asarray(points, dtype=np.float64) for points in geometry)
    left = sheet.LEFT + WIDTH + 1.0
    axes = sheet.place(figure, left, sheet.TOP + sheet.NAME, MAP, MAP)
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
) -> None:
    """Draw traces (n, ns) as variable density, time down, into a PNG; clipped at the 98th percentile.

    interval and start (of the first sample) in s; positions (n,) in m, named by `label`, or None to number
    the channels. geometry: sources and receivers, each (n, 3) in m, for a map beside it. Raises ValueError
    for what doesn't fit, FathometerError where the file can't be written.
    """
    sheet.save(gather_figure(traces, interval, start, positions, title, label, geometry), path)


def signed_offsets(source: Points, receivers: Points) -> Points:
    """Horizontal distances (n,) in m of receivers from sources, positions (n, 2 or more); negative for receivers at
    smaller x, or y where they spread further along y.
    """
    vectors = (receivers - source)[:, :2]
    axis = int(np.argmax(np.ptp(vectors, axis=0)))
    offsets: Points = np.hypot(vectors[:, 0], vectors[:, 1]) * np.where(vectors[:, axis] < 0.0, -1.0, 1.0)
    return offsets
