"""The rates of a storage benchmark: a panel for each operation, bars with intervals, the device's rate as a line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.lab.io.ranking import volume_words
from fathometer.pictures import sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAIR, PALE, DEVICE = "#009e73", "#b0b4b8", "#d55e00"
BAR, WIDE, LETTER = 0.27, 5.6, 0.078  # inches: height of a bar, width of a panel, a letter of a name
BETWEEN = 0.95  # inches between panels


def draw_rates(path: Path, envelope: dict[str, Any]) -> None:
    """Write the picture of a record of `fathometer io`. Raises FathometerError where it cannot be written."""
    sheet.save(rates_figure(envelope), path)


def rates_figure(envelope: dict[str, Any]) -> Figure:
    """The figure that `draw_rates` writes."""
    from fathometer.lab.io.panels import panels

    groups = [panel for panel in panels(envelope, Path()) if panel["kind"] == "bars"]
    left = 0.3 + LETTER * max(len(bar["name"]) for group in groups for bar in group["bars"])
    height = sheet.TOP + sum(BAR * len(group["bars"]) + BETWEEN for group in groups)
    with sheet.style():
        ranks = envelope["machine"]["ranks"]
        title = f"{volume_words(envelope['input'])}, {ranks} {'rank' if ranks == 1 else 'ranks'}"
        figure = sheet.sheet(left + WIDE + sheet.RIGHT, height, title)
        top = sheet.TOP + sheet.NAME
        for group in groups:
            bars, depth = group["bars"], BAR * len(group["bars"])
            axes = sheet.place(figure, left, top, WIDE, depth)
            places = range(len(bars))
            values = [bar["value"] / 1e6 for bar in bars]
            below = [math.nan if bar["low"] is None else (bar["value"] - bar["low"]) / 1e6 for bar in bars]
            above = [math.nan if bar["high"] is None else (bar["high"] - bar["value"]) / 1e6 for bar in bars]
            axes.barh(
                places,
                values,
                0.7,
                xerr=[below, above],
                color=[PALE if bar["pale"] else FAIR for bar in bars],
                error_kw={"linewidth": 1.0, "ecolor": sheet.INK, "capsize": 2},
            )
            axes.axvline(group["mark"]["value"] / 1e6, color=DEVICE, linestyle=":", linewidth=1.4)
            axes.set_yticks(places, [bar["name"] for bar in bars])
            axes.set_ylim(len(bars) - 0.5, -0.5)
            axes.set_xlim(left=0)
            pale = "; pale: not ranked" if any(bar["pale"] for bar in bars) else ""
            axes.set_title(f"{group['title']} (dotted: {group['mark']['name']}{pale})", loc="left")
            axes.set_xlabel("MB/s")
            top += depth + BETWEEN
    return figure
