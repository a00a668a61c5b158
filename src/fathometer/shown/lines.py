"""Lines, of fields along an axis at some times and of rows of a time series: one description, a panel of the page and
a picture made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fathometer.base.formatting import power, simulated_unit
from fathometer.pictures import sheet
from fathometer.pictures.colours import property_colours
from fathometer.pictures.panel_grid import WIDTH, PanelGrid, columns_for
from fathometer.pictures.section import ticks
from fathometer.report.scale import Scale, Values, range_of
from fathometer.runs.application import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATIO = 0.7  # height of a panel of the picture over its width
FEW_PLACES = 40  # each has a mark
COLOURS = ("#b5a800", "#5fb04a", "#22a884", "#2a788e", "#414487", "#440154")  # near Viridis, light to dark
MOST_PLACES = 600  # of more rows, several are one place of the figure

Row = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Lines:
    """A quantity as lines, such as one for each time.

    Attributes:
        name: with the unit. across: what is along the horizontal axis, with the unit.
        lines: name, places and values of each, NaN for none. may_be_log: whether its axis may be logarithmic.
    """

    name: str
    across: str
    lines: Sequence[tuple[str, npt.NDArray[np.float64], Values]]
    may_be_log: bool = False

    @cached_property
    def scale(self) -> Scale:
        """The range of all values."""
        return range_of([values for *_, values in self.lines], self.may_be_log)

    @property
    def label(self) -> str:
        """The name, and what there is to say of the values."""
        return self.scale.told(self.name)


def lines_panel(name: str, title: str, plots: Sequence[Lines], caption: str) -> Panel:
    """The panel of the page."""
    drawn, legend = [], []
    for one in plots:
        count = len(one.lines)
        colours = [COLOURS[round(n)] for n in np.linspace(0, len(COLOURS) - 1, count)] if count > 1 else [COLOURS[3]]
        legend = [(line, colour) for (line, *_), colour in zip(one.lines, colours, strict=True) if line]
        varies = one.scale.constant is None and not one.scale.empty
        drawn.append(
            {
                "label": one.label,
                "labels": [one.across, ""],
                "log": one.scale.log,
                "range": None if varies else [one.scale.low, one.scale.high],
                "lines": [
                    {"name": line, "colour": colour, "x": x.tolist(), "y": [_number(value) for value in y]}
                    for (line, x, y), colour in zip(one.lines, colours, strict=True)
                ],
            }
        )
    return {"kind": "lines", "name": name, "title": title, "caption": caption, "legend": legend, "plots": drawn}


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def lines_figure(title: str, plots: Sequence[Lines]) -> Figure:
    """The picture."""
    columns = columns_for(len(plots))
    names = [name for name, *_ in plots[0].lines]
    colours = [property_colours()(n) for n in np.linspace(0.85, 0.0, len(names))]
    with sheet.style():
        layout = PanelGrid(-(-len(plots) // columns), columns, WIDTH, WIDTH * RATIO)
        figure = layout.figure(title, "")
        for number, one in enumerate(plots):
            axes = sheet.place(figure, *layout.place(*divmod(number, columns)), layout.width, layout.height)
            for (name, x, y), colour in zip(one.lines, colours, strict=True):
                marker = "." if len(x) < FEW_PLACES else None
                axes.plot(x, y, color=colour, label=name, linewidth=1.3, marker=marker)
            axes.set_title(one.label, loc="left")
            axes.set_xlabel(one.across)
            ticks(axes)
            _upward(axes, one.scale)
        if len(names) > 1:
            _legend(figure, names)
    return figure


def _upward(axes: Axes, scale: Scale) -> None:
    """The vertical axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator, ScalarFormatter

    if scale.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(numticks=6))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: power(round(math.log10(value)))))
        axes.yaxis.set_minor_locator(NullLocator())
        return
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(ScalarFormatter())
    if scale.constant is not None:
        axes.set_ylim(scale.low, scale.high)


def _legend(figure: Figure, names: Sequence[str]) -> None:
    """The names of the lines, under the title."""
    across, down = figure.get_size_inches()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=(sheet.LEFT / across, 1.0 - 0.42 / down),
        ncols=len(names),
        borderaxespad=0.0,
        columnspacing=1.2,
        handlelength=1.2,
    )


@dataclass(frozen=True)
class Series:
    """An entry of the rows of a time series.

    Attributes:
        key: of a row. label: with its unit. colour: of the line. zero: whether the axis begins at 0.
        size: what values are divided by. total: whether several rows make their sum, and not their mean.
        may_be_log: whether the axis is logarithmic where values differ by more than a factor of 100.
    """

    key: str
    label: str
    colour: str
    zero: bool = False
    size: float = 1.0
    total: bool = False
    may_be_log: bool = False


def series_panel(
    name: str,
    title: str,
    rows: Sequence[Row],
    across: str,
    place: Callable[[Sequence[Row], int], float],
    series: Sequence[Series],
    caption: Callable[[int], str],
    steps: bool = False,
) -> Panel:
    """A panel of a time series, as far as its rows have the entries.

    Args:
        across: what is along the horizontal axis. place: where some rows lie on it, from them and the number of the
            first. caption: for so many rows in a place. steps: whether a value holds for the whole of its place.

    Raises ValueError where there are no rows.
    """
    if not rows:
        raise ValueError("this run has no row of a time series")
    each = -(-len(rows) // MOST_PLACES)
    bins = [(rows[n : n + each], n) for n in range(0, len(rows), each)]
    places = [place(part, first) for part, first in bins]
    plots = []
    for one in series:
        if any(one.key not in row for row in rows):
            continue
        values = [_value(part, one) for part, _ in bins]
        plot: dict[str, Any] = {
            "label": one.label,
            "labels": [across, ""],
            "from": "tozero" if one.zero else "normal",
            "lines": [{"name": one.label, "colour": one.colour, "x": places, "y": values}],
        }
        if one.may_be_log and min(values) > 0 and max(values) > 100 * min(values):
            plot["log"] = True
        plots.append(plot | {"steps": True} if steps else plot)
    return {"kind": "lines", "name": name, "title": title, "caption": caption(each), "legend": [], "plots": plots}


def time_series_panel(
    record: Mapping[str, Any], series: Sequence[Series], time: tuple[str, str] = ("s", "time_seconds")
) -> Panel:
    """The time series of a record's rows over the simulated time, whose unit and name in the rows are given. Raises
    ValueError where there are no rows."""
    rows: Sequence[Row] = record["results"]["course"]
    (unit, name), size = time, 1.0
    if unit == "s":
        unit, size = simulated_unit(max((row[name] for row in rows), default=0.0))
    return series_panel(
        "course",
        "Time series",
        rows,
        f"time ({unit})",
        lambda part, first: mean_of(part, name, size),
        series,
        lambda each: f"Each place is the mean of {each} rows." if each > 1 else "",
    )


def _value(rows: Sequence[Row], series: Series) -> float:
    together = sum(row[series.key] for row in rows)
    return float(f"{together / series.size / (1 if series.total else len(rows)):.9g}")


def mean_of(rows: Sequence[Row], key: str, size: float) -> float:
    """The mean of an entry of some rows, in units of `size`."""
    return _value(rows, Series(key, "", "", size=size))
