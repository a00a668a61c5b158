"""Panels of a flow's fields: sections with a choice of the time, or lines along one axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fathometer.apps.reactive.fields import Field
from fathometer.apps.reactive.sections import block_centres, check_files, section_of
from fathometer.apps.reactive.shown import Shown, chosen, is_plane, lines_of, show
from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.report.missing import missing
from fathometer.report.scale import field_entry, spread
from fathometer.report.times import times_text
from fathometer.runs.application import Panel

MOST_TIMES, MOST_LINES, MOST_MOMENTS = 8, 6, 100  # of sections, of lines along an axis, of a single cell
MOST_VALUES = 400  # along a side of a section
ALL_VALUES = 2_000_000  # of all sections together, so that the page stays small
LOWEST, TALLEST = 0.3, 1.4  # height of a section over its width: beyond these it is stretched
TITLE = "The fields"
COLOURS = ("#b5a800", "#5fb04a", "#22a884", "#2a788e", "#414487", "#440154")  # near Viridis, light to dark


def field_panels(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """Sections or lines of the fields that vary first, and why others are missing.

    folder: where the record lies. Raises KeyError, TypeError and the like for a record that no run writes.
    """
    results = record["results"]
    fields, times = [Field(**entry) for entry in results.get("fields", [])], results.get("field_times_seconds", [])
    if not fields or not times:
        return [missing(TITLE, "the record names no fields that were written")]
    grid, shape = results["grid"], results["grid"]["shape"]
    gone: list[Panel] = []
    candidates = []
    most = MOST_TIMES if is_plane(shape) else MOST_LINES if max(shape) > 1 else MOST_MOMENTS
    indices = spread(len(times), most)
    with ledger.file("fields", "read"):
        check_files(folder / field.file(n) for field in fields for n in indices)
        for field in fields:
            try:
                candidates.append(show(folder, field, shape, sorted({0, len(times) - 1}), MOST_VALUES))
            except (FathometerError, OSError) as error:
                gone.append(missing(field.name, str(error)))
        picked = [one.field for one in chosen(candidates)]
        size = min(MOST_VALUES, math.isqrt(ALL_VALUES // max(1, len(picked) * len(indices))))
        size = size if is_plane(shape) else MOST_VALUES
        shown = []
        for field in picked:
            try:
                shown.append(show(folder, field, shape, indices, size))
            except (FathometerError, OSError) as error:  # a file of another time
                gone.append(missing(field.name, str(error)))
    if not shown:
        return gone
    made = (_sections if is_plane(shape) else _lines)(shown, grid, [times[n] for n in indices])
    return [made, *gone]


def _sections(shown: Sequence[Shown], grid: Mapping[str, Any], times: Sequence[float]) -> Panel:
    section = section_of(grid["shape"])
    first, second = section.axes
    across, along = (block_centres(grid, axis, n) for axis, n in zip(section.axes, shown[0].blocks, strict=True))
    steps = [grid["spacing_metres"][axis] * n for axis, n in zip(section.axes, shown[0].blocks, strict=True)]
    extent = len(along) * steps[1] / (len(across) * steps[0])
    ratio = min(max(extent, LOWEST), TALLEST)
    notes = []
    if grid["shape"][section.across] > 1:
        place = grid["origin_metres"][section.across] + (section.place + 0.5) * grid["spacing_metres"][section.across]
        notes.append(f"Through the middle, {'xyz'[section.across]} = {place:.6g} m.")
    if max(shown[0].blocks) > 1:
        notes.append(f"Means of {' × '.join(map(str, shown[0].blocks))} cells.")
    if len(times) > 1:
        notes.append("Colours have the same range at all times.")
    if ratio != extent:
        notes.append("The axes are not at one scale.")
    if any(one.scale.holes for one in shown):
        notes.append("Grey: no value.")
    return {
        "kind": "fields",
        "name": "fields",
        "title": TITLE if len(times) > 1 else f"{TITLE} at {times_text(times)[0]}",
        "caption": " ".join(notes),
        "labels": [f"{'xyz'[first]} (m)", f"{'xyz'[second]} (m)"],
        "x": [float(across[0]), steps[0]],
        "y": [float(along[0]), steps[1]],
        "shape": [len(along), len(across)],
        "ratio": ratio,
        "choice": "time",
        "choices": times_text(times),
        "fields": [field_entry(one.label, one.parts, one.scale) for one in shown],
    }


def _lines(shown: Sequence[Shown], grid: Mapping[str, Any], times: Sequence[float]) -> Panel:
    plots, legend = [], []
    for one in shown:
        drawn = lines_of(one, grid, times)
        colours = [COLOURS[round(n)] for n in np.linspace(0, len(COLOURS) - 1, len(drawn.lines))]
        colours = colours if len(drawn.lines) > 1 else [COLOURS[3]]
        legend = [(name, colour) for (name, *_), colour in zip(drawn.lines, colours, strict=True) if name]
        plots.append(
            {
                "label": one.label,
                "labels": [drawn.across, ""],
                "log": one.scale.log,
                "range": None
                if one.scale.constant is None and not one.scale.empty
                else [one.scale.low, one.scale.high],
                "lines": [
                    {"name": name, "colour": colour, "x": x.tolist(), "y": [_number(value) for value in y]}
                    for (name, x, y), colour in zip(drawn.lines, colours, strict=True)
                ],
            }
        )
    blocks = max(shown[0].blocks)
    caption = f"Means of {blocks} cells." if blocks > 1 else ""
    return {"kind": "lines", "name": "fields", "title": TITLE, "caption": caption, "legend": legend, "plots": plots}


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None
