"""The curves of a record of `fathometer messages` as a picture: seconds over length, by pattern and place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.pictures import sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE, DEEP, BETWEEN, LEFT, LEGEND = 5.2, 3.0, 0.95, 0.9, 1.8  # inches
FEWEST_LENGTHS = 2  # of a curve


def draw_curves(path: Path, envelope: dict[str, Any]) -> None:
    """Write the picture of a record of `fathometer messages`. Raises FathometerError where it cannot be written."""
    sheet.save(curves_figure(envelope), path)


def curves_figure(envelope: dict[str, Any]) -> Figure:
    """The figure that `draw_curves` writes."""
    from fathometer.lab.messages.panels import time_panels

    groups = time_panels(envelope["results"]["rows"])
    height = sheet.TOP + len(groups) * (DEEP + BETWEEN)
    with sheet.style():
        ranks = envelope["machine"]["ranks"]
        figure = sheet.sheet(LEFT + WIDE + LEGEND, max(height, sheet.TOP + 1.0), f"Messages of {ranks} ranks")
        top = sheet.TOP + sheet.NAME
        for group in groups:
            axes = sheet.place(figure, LEFT, top, WIDE, DEEP)
            for curve in group["curves"]:
                axes.plot(curve["x"], curve["y"], label=curve["name"], color=curve["colour"], linewidth=1.2)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xlabel("bytes")
            axes.set_ylabel("seconds")
            axes.set_title(group["title"], loc="left")
            axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize="small")
            top += DEEP + BETWEEN
    return figure
