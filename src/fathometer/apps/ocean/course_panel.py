"""Panel of an ocean's time series: energy, means of temperature and salinity, speed, iterations of the solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fathometer.report.figures import COLOURS, POINT
from fathometer.report.times import unit_of
from fathometer.runs.application import Panel

MOST_PLACES = 600  # of more rows, several are one place of the figure
# Entries of a row: label, colour, whether the axis begins at 0.
SERIES = {
    "kinetic_energy_joules": ("kinetic energy (J)", COLOURS["compute"], True),
    "mean_temperature": ("mean temperature (°C)", POINT, False),
    "mean_salinity": ("mean salinity", COLOURS["io"], False),
    "largest_speed": ("largest speed (m/s)", COLOURS["compute"], True),
    "largest_courant": ("largest Courant number", COLOURS["communication"], True),
    "iterations": ("iterations of a step", COLOURS["communication"], True),
}


def course_panel(record: Mapping[str, Any]) -> Panel:
    """Lines over time. Raises ValueError where there are no rows."""
    rows: Sequence[Mapping[str, float]] = record["results"]["course"]
    if not rows:
        raise ValueError("this run has no row of a time series")
    each = -(-len(rows) // MOST_PLACES)
    bins = [rows[n : n + each] for n in range(0, len(rows), each)]
    unit, size = unit_of(max(row["time_seconds"] for row in rows))
    times = [_mean(part, "time_seconds", size) for part in bins]
    plots = [
        {
            "label": label,
            "labels": [f"time ({unit})", ""],
            "from": "tozero" if zero else "normal",
            "lines": [
                {"name": label, "colour": colour, "x": times, "y": [_mean(part, key, 1.0) for part in bins]},
            ],
        }
        for key, (label, colour, zero) in SERIES.items()
        if all(key in row for row in rows)
    ]
    caption = f"Each place is the mean of {each} rows." if each > 1 else ""
    return {"kind": "lines", "name": "course", "title": "Time series", "caption": caption, "legend": [], "plots": plots}


def _mean(rows: Sequence[Mapping[str, float]], key: str, size: float) -> float:
    return float(f"{sum(row[key] for row in rows) / len(rows) / size:.9g}")
