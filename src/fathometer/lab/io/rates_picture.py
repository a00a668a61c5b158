"""The rates of a storage benchmark: a panel for each operation, bars with intervals, the device's rate as a line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from fathometer.lab.io.panels import panels_of_record

    panels = [one for one in panels_of_record(envelope, Path()) if one["kind"] == "bars"]
    request = envelope["input"]
    cells = " x ".join(str(n) for n in request["grid"] if n > 1)
    left = 0.3 + LETTER * max(len(one["name"]) for panel in panels for one in panel["bars"])
    height = sheet.TOP + sum(BAR * len(panel["bars"]) + BETWEEN for panel in panels)
    with sheet.look():
        ranks = envelope["machine"]["ranks"]
        title = f"Volumes of {cells} cells, {ranks} {'rank' if ranks == 1 else 'ranks'}"
        figure = sheet.sheet(left + WIDE + sheet.RIGHT, height, title)
        top = sheet.TOP + sheet.NAME
        for panel in panels:
            shown, deep = panel["bars"], BAR * len(panel["bars"])
            axes = sheet.place(figure, left, top, WIDE, deep)
            places = range(len(shown))
            values = [one["value"] / 1e6 for one in shown]
            below = [(one["value"] - one["low"]) / 1e6 for one in shown]
            above = [(one["high"] - one["value"]) / 1e6 for one in shown]
            axes.barh(
                places,
                values,
                0.7,
                xerr=[below, above],
                color=[PALE if one["pale"] else FAIR for one in shown],
                error_kw={"linewidth": 1.0, "ecolor": sheet.INK, "capsize": 2},
            )
            axes.axvline(panel["mark"]["value"] / 1e6, color=DEVICE, linestyle=":", linewidth=1.4)
            axes.set_yticks(places, [one["name"] for one in shown])
            axes.set_ylim(len(shown) - 0.5, -0.5)
            axes.set_xlim(left=0)
            pale = "; pale: not ranked" if any(one["pale"] for one in shown) else ""
            axes.set_title(f"{panel['title']} (dotted: {panel['mark']['name']}{pale})", loc="left")
            axes.set_xlabel("MB/s")
            top += deep + BETWEEN
    return figure
