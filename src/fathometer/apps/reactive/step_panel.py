"""Panel of the time steps of a run: their length, the iterations of each, and how often it was cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fathometer.report.figures import COLOURS, POINT
from fathometer.report.times import unit_of
from fathometer.runs.application import Panel

MOST_BINS = 500  # of more steps, several are one place of the figure

Row = Mapping[str, float]


def step_panel(record: Mapping[str, Any]) -> Panel:
    """Lines over the number of the step. Raises ValueError where the run has taken none."""
    results = record["results"]
    rows: Sequence[Row] = results["course"]
    if not rows:
        raise ValueError("this run has taken no step")
    each = -(-len(rows) // MOST_BINS)
    bins = [rows[n : n + each] for n in range(0, len(rows), each)]
    places = [results["earlier_steps"] + n * each + (len(part) + 1) / 2 for n, part in enumerate(bins)]
    unit, size = unit_of(max(row["step_seconds"] for row in rows))
    kinds: list[tuple[str, str, Callable[[Sequence[Row]], float]]] = [
        ("Newton's iterations", COLOURS["compute"], lambda part: _mean(part, "newton_iterations")),
        ("linear iterations", COLOURS["io"], lambda part: _mean(part, "linear_iterations")),
        ("length of the step", COLOURS["communication"], lambda part: _mean(part, "step_seconds") / size),
    ]
    if any(row["cut_steps"] for row in rows):
        kinds.append(("times that the step was cut", POINT, lambda part: sum(row["cut_steps"] for row in part)))
    plots = []
    for label, colour, value in kinds:
        values = [value(part) for part in bins]
        is_length = label == kinds[2][0]
        log = is_length and min(values) > 0 and max(values) > 100 * min(values)
        plots.append(
            {
                "label": f"{label} ({unit})" if is_length else label,
                "labels": ["step", ""],
                "log": log,
                "from": "tozero",
                "steps": True,
                "lines": [{"name": "step", "colour": colour, "x": places, "y": values}],
            }
        )
    caption = "Linear iterations are those of all of a step's Newton iterations together."
    if each > 1:
        caption += f" Each place is the mean of {each} steps; cuts are their sum."
    return {"kind": "lines", "name": "steps", "title": "Time steps", "caption": caption, "legend": [], "plots": plots}


def _mean(rows: Sequence[Row], key: str) -> float:
    return float(f"{sum(row[key] for row in rows) / len(rows):.6g}")
