"""Panels of an ocean's fields: maps of the surface and a section of temperature, with a choice of the time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fathometer.apps.ocean.field_maps import SECTION, FieldFile, Map, Section, layered, thinned
from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.report.missing import missing
from fathometer.report.scale import Scale, Values, field_entry, range_of, spread
from fathometer.report.times import times_text
from fathometer.runs.application import Panel

MAPS, SECTIONS = "Maps of the surface", "Section"
MOST_TIMES = 8
MOST_VALUES, ALL_VALUES = 400, 2_000_000  # along a side of a map; of all together, so that the page stays small
SECTION_ROWS = 160
SECTION_RATIO = 0.45
LOWEST, TALLEST = 0.3, 1.4  # height of a map over its width: beyond these it is stretched
LEAST_WIDTH = 420
# As in matplotlib, at equal distances.
STOPS = {
    "RdBu": "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f",
    "Plasma": "0d0887 41049d 6a00a8 8f0da4 b12a90 cc4778 e16462 f2844b fca636 fcce25 f0f921",
}


def map_panels(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """Maps and the section at some output times, and why those of others are missing.

    folder: where the record lies. Raises KeyError, TypeError and the like for a record that no run writes.
    """
    results = record["results"]
    names, shape = results.get("field_files", []), results["grid"]["shape"]
    if not names:
        return [missing(MAPS, "the record names no fields that were written")]
    gone: list[Panel] = []
    times: list[float] = []
    maps: list[list[Map]] = []
    sections: list[Section | None] = []
    picked = [names[n] for n in spread(len(names), MOST_TIMES)]
    size = min(MOST_VALUES, math.isqrt(ALL_VALUES // (6 * len(picked))))
    with ledger.file("fields", "read"):
        for name in picked:
            try:
                with FieldFile(folder / name, shape) as file:
                    maps.append([_thinned(file.map(kind), size) for kind in file.kinds()])
                    sections.append(file.section())
                    times.append(file.time)
            except (FathometerError, OSError) as error:
                gone.append(missing(str(name), str(error)))
    if not times:
        return gone
    panels: list[Panel] = []
    if maps[-1]:
        panels.append(_maps(maps, times, shape))
    if sections[-1] is not None:
        panels.append(_section([section for section in sections if section is not None], times, size))
    return panels + gone


def _thinned(shown: Map, most: int) -> Map:
    values, blocks = thinned(shown.values, most)
    return replace(shown, values=values, axes=shown.axes.moved(blocks))


def _maps(maps: Sequence[Sequence[Map]], times: Sequence[float], shape: Sequence[int]) -> Panel:
    last = maps[-1]
    axes, (rows, columns) = last[0].axes, last[0].values.T.shape
    extent = rows * axes.step[1] / (columns * axes.step[0])
    ratio = min(max(extent, LOWEST), TALLEST)
    fields = []
    for number, shown in enumerate(last):
        parts = [_in_unit(one[number], shown.unit) for one in maps]
        fields.append(_field(shown.label, parts, shown) | {"first": list(shown.axes.first)})
    notes = ["Grey: land.", *_notes(times)]
    cells = [-(-n // have) for n, have in zip(shape[:2], (columns, rows), strict=True)]
    if max(cells) > 1:
        notes.append(f"Means of {cells[0]} × {cells[1]} cells.")
    if ratio != extent:
        notes.append("The axes are not at one scale.")
    return _panel("maps", MAPS, times, notes) | {
        "labels": list(axes.labels),
        "units": [axes.unit, axes.unit],
        "least": LEAST_WIDTH,
        "x": [axes.first[0], axes.step[0]],
        "y": [axes.first[1], axes.step[1]],
        "shape": [rows, columns],
        "ratio": ratio,
        "fields": fields,
    }


def _in_unit(shown: Map, unit: str) -> Values:
    """Values of a map in the unit of the last one: at first a flow may be too small for Sverdrups."""
    if shown.unit == unit:
        return shown.values
    return np.asarray(shown.values * (1e-6 if unit == "Sv" else 1e6), np.float32)


def _field(label: str, parts: Sequence[Values], shown: Map) -> dict[str, Any]:
    """An entry of `fields` of panels_beside."""
    scale = range_of(parts)
    if shown.kind.diverging and not scale.plain:
        most = max(abs(scale.low), abs(scale.high))
        scale = replace(scale, low=-most, high=most)
    return _coded(label, parts, scale, shown.kind.colours)


def _coded(label: str, parts: Sequence[Values], scale: Scale, colours: str) -> dict[str, Any]:
    if scale.empty:
        label = f"{label}: no values"
    elif scale.constant is not None:
        label = f"{label}: {scale.constant:.4g} everywhere"
    return field_entry(label, parts, scale) | {"colours": _plotly(colours)}


def _plotly(colours: str) -> Any:
    """Colours as Plotly takes them, which has no Plasma, and no blue over white to red."""
    if colours not in STOPS:
        return colours
    stops = STOPS[colours].split()
    return [[n / (len(stops) - 1), f"#{stop}"] for n, stop in enumerate(stops)]


def _section(sections: Sequence[Section], times: Sequence[float], most: int) -> Panel:
    last = sections[-1]
    depth = float(last.bounds[-1])
    rows = min(SECTION_ROWS, max(8, round(depth / float(np.diff(last.bounds).min()))))
    parts = []
    for section in sections:
        values = layered(section, rows)
        means, (blocks, _) = thinned(values, max(most, rows))
        parts.append(means)
    step, height = last.step * blocks, depth / rows
    notes = [f"At {last.title}. Grey: land and the bottom.", *_notes(times)]
    if blocks > 1:
        notes.append(f"Means of {blocks} columns.")
    unit = last.across[last.across.index("(") + 1 : -1]
    return _panel("section", SECTIONS, times, notes) | {
        "labels": [last.across, "depth (m)"],
        "units": [unit, "m"],
        "least": LEAST_WIDTH,
        "down": True,
        "x": [last.first + 0.5 * (blocks - 1) * last.step, step],
        "y": [0.5 * height, height],
        "shape": [rows, len(parts[-1])],
        "ratio": SECTION_RATIO,
        "fields": [_coded(f"{SECTION.label} ({SECTION.unit})", parts, range_of(parts), SECTION.colours)],
    }


def _notes(times: Sequence[float]) -> list[str]:
    return ["Colours have the same range at all times."] if len(times) > 1 else []


def _panel(name: str, title: str, times: Sequence[float], notes: Sequence[str]) -> Panel:
    texts = times_text(times)
    return {
        "kind": "fields",
        "name": name,
        "title": title if len(times) > 1 else f"{title} after {texts[0]}",
        "caption": " ".join(notes),
        "choice": "time",
        "choices": texts,
    }
