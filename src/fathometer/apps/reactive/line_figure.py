"""The figure of a flow along one axis, or of one cell: each field as lines, one for each time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.reactive.shown import Shown, lines_of
from fathometer.pictures import sheet
from fathometer.pictures.colours import property_colours
from fathometer.pictures.panel_grid import WIDTH, PanelGrid, columns_for
from fathometer.pictures.section import ticks
from fathometer.report.formatting import power
from fathometer.report.times import time_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATIO = 0.7  # height of a panel over its width
FEW_PLACES = 40  # each has a mark


def line_figure(shown: Sequence[Shown], grid: Mapping[str, Any], times: Sequence[float], subject: str) -> Figure:
    """Fields along the grid's axis. grid: the entry of the record; times: of the fields' parts, s."""
    columns = columns_for(len(shown))
    names = [name for name, *_ in lines_of(shown[0], grid, times).lines]
    colours = [property_colours()(n) for n in np.linspace(0.85, 0.0, len(names))]
    with sheet.style():
        layout = PanelGrid(-(-len(shown) // columns), columns, WIDTH, WIDTH * RATIO)
        figure = layout.figure(f"{subject} up to {time_text(times[-1])}", "")
        for number, one in enumerate(shown):
            axes = sheet.place(figure, *layout.place(*divmod(number, columns)), layout.width, layout.height)
            lines = lines_of(one, grid, times)
            for (name, x, y), colour in zip(lines.lines, colours, strict=True):
                marker = "." if len(x) < FEW_PLACES else None
                axes.plot(x, y, color=colour, label=name, linewidth=1.3, marker=marker)
            axes.set_title(one.label, loc="left")
            axes.set_xlabel(lines.across)
            ticks(axes)
            _upward(axes, one)
        if len(names) > 1:
            _legend(figure, names)
    return figure


def _upward(axes: Axes, shown: Shown) -> None:
    """The vertical axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator, ScalarFormatter

    if shown.scale.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(numticks=6))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: power(round(math.log10(value)))))
        axes.yaxis.set_minor_locator(NullLocator())
        return
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(ScalarFormatter())
    if shown.scale.constant is not None:
        axes.set_ylim(shown.scale.low, shown.scale.high)


def _legend(figure: Figure, names: Sequence[str]) -> None:
    """The times, under the title."""
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
