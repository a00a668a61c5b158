"""The figure of a flow's sections: each field at the end or, where they are few, at the beginning and at the end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.reactive.sections import Section, section_of
from fathometer.apps.reactive.shown import Shown, scale_of
from fathometer.pictures import sheet
from fathometer.pictures.colours import property_colours
from fathometer.pictures.panel_grid import COLUMNS, WIDTH, PanelGrid, columns_for
from fathometer.pictures.section import ticks
from fathometer.report.formatting import power
from fathometer.report.scale import Values
from fathometer.report.times import times_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOWEST, TALLEST = 0.25, 1.3  # height of a section over its width: beyond these it is stretched
NO_VALUE = "#c9ced3"  # where a field is no number


def section_figure(shown: Sequence[Shown], grid: Mapping[str, Any], times: Sequence[float], subject: str) -> Figure:
    """Fields on the section through the middle. grid: the entry of the record; times: of the fields' parts, s."""
    section = section_of(grid["shape"])
    wide, high = (grid["shape"][axis] * grid["spacing_metres"][axis] for axis in section.axes)
    ratio = min(max(high / wide, LOWEST), TALLEST)
    # Few fields leave room for the beginning above the end.
    compared = len(shown) <= COLUMNS and len(times) > 1
    if not compared:
        shown = [replace(one, parts=one.parts[-1:], scale=scale_of(one.field, one.parts[-1:])) for one in shown]
        times = times[-1:]
    texts = times_text(times)
    columns = columns_for(len(shown))
    rows = len(times) if compared else -(-len(shown) // columns)
    notes = []
    if grid["shape"][section.across] > 1:
        place = grid["origin_metres"][section.across] + (section.place + 0.5) * grid["spacing_metres"][section.across]
        notes.append(f"section at {'xyz'[section.across]} = {place:.6g} m")
    if ratio != high / wide:
        notes.append("axes not at one scale")
    if any(one.scale.holes for one in shown):
        notes.append("grey: no value")
    with sheet.style():
        layout = PanelGrid(rows, columns, WIDTH, WIDTH * ratio)
        figure = layout.figure(f"{subject} at {' and '.join(texts)}", "; ".join(notes))
        for number, one in enumerate(shown):
            for row, values in enumerate(one.parts):
                at = (row, number) if compared else divmod(number, columns)
                left, top = layout.place(*at)
                axes = sheet.place(figure, left, top, layout.width, layout.height)
                _section(axes, one, values, grid, section)
                axes.set_title(one.label + (f", {texts[row]}" if compared else ""), loc="left")
                _bar(figure, axes, one, left + layout.width + 0.12, top, layout.height)
    return figure


def _section(axes: Axes, shown: Shown, values: Values, grid: Mapping[str, Any], section: Section) -> None:
    """One field on the section; the second axis goes up."""
    from matplotlib.colors import LogNorm, Normalize

    spans = []
    for axis, blocks, count in zip(section.axes, shown.blocks, values.shape, strict=True):
        start, step = grid["origin_metres"][axis], grid["spacing_metres"][axis]
        spans.append((start, start + count * blocks * step, start + grid["shape"][axis] * step))
    (left, right, end), (low, high, top) = spans
    colours = property_colours().with_extremes(bad=NO_VALUE)
    scale = shown.scale
    axes.imshow(
        np.ma.masked_invalid(values.T),
        cmap=colours,
        norm=LogNorm(scale.low, scale.high) if scale.log else Normalize(scale.low, scale.high),
        extent=(left, right, low, high),
        origin="lower",
        aspect="auto",
        interpolation="nearest" if max(values.shape) < 400 else "auto",
        interpolation_stage="data",
    )
    axes.set_xlim(left, end)
    axes.set_ylim(low, top)
    axes.set_xlabel(f"{'xyz'[section.axes[0]]} (m)")
    axes.set_ylabel(f"{'xyz'[section.axes[1]]} (m)")
    ticks(axes)


def _bar(figure: Figure, axes: Axes, shown: Shown, left: float, top: float, height: float) -> None:
    """The colour bar of a field that has values."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    scale = shown.scale
    if scale.plain:
        return
    bar = figure.colorbar(axes.images[0], cax=sheet.place(figure, left, top, 0.14, height))
    bar.outline.set_linewidth(0.6)
    if scale.log:
        first, last = math.ceil(math.log10(scale.low)), math.floor(math.log10(scale.high))
        step = max(1, -(-(last - first + 1) // max(2, int(height / 0.3))))
        bar.ax.yaxis.set_major_locator(FixedLocator([10.0**n for n in range(first, last + 1, step)]))
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: power(round(math.log10(value)))))
        bar.ax.yaxis.set_minor_locator(NullLocator())
    else:
        bar.ax.yaxis.set_major_locator(MaxNLocator(nbins=max(2, int(height / 0.4)), steps=[1, 2, 5, 10]))
