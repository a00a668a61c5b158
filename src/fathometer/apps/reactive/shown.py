"""What is shown of a flow: which of its fields, on the page with a choice of the time and in the picture; its steps.

Of a grid along two or three axes: sections through its middle (sections.py). Along one axis: lines, one a time. Of a
single cell: its values over the times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.reactive.chemistry.constraint_checks import ACID
from fathometer.apps.reactive.fields import Field
from fathometer.apps.reactive.sections import block_centres, check_files, read_section, section_of
from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.formatting import simulated_unit, time_text, times_text
from fathometer.pictures import sheet
from fathometer.pictures.panel_grid import COLUMNS
from fathometer.pictures.plane import downsampled
from fathometer.report.figures import COLOURS, POINT
from fathometer.report.missing import missing
from fathometer.report.scale import Scale, Values, range_of, spread
from fathometer.runs.application import Panel
from fathometer.shown.lines import Lines, Row, Series, lines_figure, lines_panel, series_panel
from fathometer.shown.planes import Extent, Plane, planes_figure, planes_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fathometer.apps.reactive.flow_file import FlowFile

PICTURE = "flow.png"
TITLE = "The fields"
NO_VALUE = "no value"
MOST_FIELDS = 6
FEW = {"pH": 1, "minerals": 2, "totals": 4, "saturation": 2, "strength": 1, "molalities": 4}  # of a kind, in this order
CONCENTRATIONS = ("totals", "molalities", "strength")  # kinds whose colours may be logarithmic
# Of the page: times of sections, lines along an axis, times of a single cell; then the same of the picture.
PAGE_TIMES, PICTURE_TIMES = (8, 6, 100), (2, 8, 100)
PAGE_VALUES, PICTURE_VALUES = 400, 2400  # along a side of a section
ALL_VALUES = 2_000_000  # of all sections together, so that the page stays small


@dataclass(frozen=True, eq=False)
class Shown:
    """A field with its values at some times, each (first axis, second axis) of the section.

    Attributes:
        blocks: cells along both axes of which each value is the mean.
    """

    field: Field
    parts: tuple[Values, ...]
    blocks: tuple[int, int]

    @cached_property
    def scale(self) -> Scale:
        """The range of the finite values of all parts."""
        return range_of(self.parts, self.field.kind in CONCENTRATIONS)

    def plane(self, grid: Mapping[str, Any]) -> Plane:
        """On the section through the middle; grid: the entry of the record."""
        section = section_of(grid["shape"])
        first, step, borders = [], [], []
        for axis, blocks in zip(section.axes, self.blocks, strict=True):
            origin, spacing, count = (grid[key][axis] for key in ("origin_metres", "spacing_metres", "shape"))
            first.append(float(block_centres(grid, axis, blocks)[0]))
            step.append(spacing * blocks)
            borders.append((origin, origin + count * spacing))
        labels = [f"{'xyz'[axis]} (m)" for axis in section.axes]
        extent = Extent(
            (first[0], first[1]), (step[0], step[1]), (labels[0], labels[1]), ("m", "m"), (borders[0], borders[1])
        )
        log = self.field.kind in CONCENTRATIONS
        return Plane(label_of(self.field), self.parts, extent, self.blocks, may_be_log=log)

    def lines(self, grid: Mapping[str, Any], times: Sequence[float]) -> Lines:
        """Along the axis that has cells, one a time; of a single cell over the times, s. grid: the entry of the
        record."""
        shape, log = grid["shape"], self.field.kind in CONCENTRATIONS
        axis = max(range(3), key=lambda axis: shape[axis])
        if shape[axis] == 1:
            unit, size = simulated_unit(max(times))
            values = np.array([part.ravel()[0] for part in self.parts])
            return Lines(label_of(self.field), f"time ({unit})", [("", np.array(times) / size, values)], log)
        places = block_centres(grid, axis, max(self.blocks))
        named = zip(times_text(times), self.parts, strict=True)
        lines = [(name, places, part.ravel()) for name, part in named]
        return Lines(label_of(self.field), f"{'xyz'[axis]} (m)", lines, log)


def label_of(field: Field) -> str:
    """Name and unit of a field, as text."""
    match field.kind:
        case "totals":
            return f"{field.name.removeprefix('total ')}, total ({field.unit})"
        case "molalities":
            return f"{field.name.removeprefix('molality ')} ({field.unit})"
        case "minerals":
            return f"{field.name.removeprefix('volume ')}, part of the volume"
        case "saturation":
            return f"{field.name.removeprefix('saturation ')}, log₁₀ Ω"
        case _:
            return field.name if field.unit == "1" else f"{field.name} ({field.unit})"


def show(folder: Path, field: Field, shape: Sequence[int], indices: Sequence[int], most: int) -> Shown:
    """A field with its values at the times `indices`, means over blocks of cells where there are more than `most` along
    an axis.

    Raises InputError where a file cannot be read or has other cells than `shape`.
    """
    section = section_of(shape)
    thinned = [downsampled(read_section(folder / field.file(n), shape, section), most) for n in indices]
    return Shown(field, tuple(part for part, _ in thinned), thinned[0][1])


def chosen(candidates: Sequence[Shown]) -> list[Shown]:
    """At most MOST_FIELDS of the fields: first those that vary, at first few of each kind, H+ after other totals."""
    kinds, ranked = list(FEW), []
    for shown in candidates:
        acid = shown.field.kind == "totals" and shown.field.name.endswith(f" {ACID}")
        ranked.append(((shown.scale.plain, kinds.index(shown.field.kind), acid), shown))
    ranked.sort(key=lambda pair: pair[0])
    first: list[Shown] = []
    others: list[Shown] = []
    counts = dict.fromkeys(kinds, 0)
    for (plain, *_), shown in ranked:
        counts[shown.field.kind] += 1
        (first if not plain and counts[shown.field.kind] <= FEW[shown.field.kind] else others).append(shown)
    return (first + others)[:MOST_FIELDS]


def is_plane(shape: Sequence[int]) -> bool:
    """Whether a grid has cells along two axes or three: it is shown as sections."""
    return sum(n > 1 for n in shape) > 1


def _most(shape: Sequence[int], of: tuple[int, int, int]) -> int:
    """Times that are shown of a grid."""
    return of[0] if is_plane(shape) else of[1] if max(shape) > 1 else of[2]


def _place(grid: Mapping[str, Any]) -> list[str]:
    """Where the section lies, in a sentence."""
    section = section_of(grid["shape"])
    if grid["shape"][section.across] == 1:
        return []
    place = grid["origin_metres"][section.across] + (section.place + 0.5) * grid["spacing_metres"][section.across]
    return [f"Through the middle, {'xyz'[section.across]} = {place:.6g} m."]


def field_panels(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """Sections or lines of the fields that vary first, and why others are missing.

    folder: where the record lies. Raises KeyError, TypeError and the like for a record that no run writes.
    """
    results = record["results"]
    fields, times = [Field(**entry) for entry in results.get("fields", [])], results.get("field_times_seconds", [])
    if not fields or not times:
        return [missing(TITLE, "the record names no fields that were written")]
    grid, shape = results["grid"], results["grid"]["shape"]
    indices = spread(len(times), _most(shape, PAGE_TIMES))
    gone: list[Panel] = []

    def shown_of(some: Sequence[Field], at: Sequence[int], most: int) -> list[Shown]:
        found = []
        for one in some:
            try:
                found.append(show(folder, one, shape, at, most))
            except (FathometerError, OSError) as error:
                gone.append(missing(one.name, str(error)))
        return found

    with ledger.file("fields", "read"):
        check_files(folder / field.file(n) for field in fields for n in indices)
        candidates = shown_of(fields, sorted({0, len(times) - 1}), PAGE_VALUES)
        picked = [one.field for one in chosen(candidates)]
        size = min(PAGE_VALUES, math.isqrt(ALL_VALUES // max(1, len(picked) * len(indices))))
        shown = shown_of(picked, indices, size if is_plane(shape) else PAGE_VALUES)
    if not shown:
        return gone
    times = [times[n] for n in indices]
    if is_plane(shape):
        planes = [one.plane(grid) for one in shown]
        return [planes_panel("fields", TITLE, planes, times, NO_VALUE, first=_place(grid)), *gone]
    blocks = max(shown[0].blocks)
    caption = f"Means of {blocks} cells." if blocks > 1 else ""
    return [lines_panel("fields", TITLE, [one.lines(grid, times) for one in shown], caption), *gone]


def draw(file: FlowFile, fields: Sequence[Field], times: Sequence[float]) -> Path:
    """Draw the fields that a run has written at some times, on one rank; returns the picture's path.

    Raises InputError where a volume cannot be read, FathometerError where the picture cannot be written.
    """
    grid, folder = file.grid, file.output_directory
    values = {"shape": grid.cells, "spacing_metres": grid.spacing, "origin_metres": grid.origin}
    indices = spread(len(times), _most(grid.cells, PICTURE_TIMES))
    with ledger.file("fields", "read"):
        check_files(folder / field.file(n) for field in fields for n in indices)
        candidates = [show(folder, field, grid.cells, indices, PICTURE_VALUES) for field in fields]
    path = folder / PICTURE
    sheet.save(flow_figure(chosen(candidates), values, [times[n] for n in indices], file.path.stem), path)
    return path


def flow_figure(shown: Sequence[Shown], grid: Mapping[str, Any], times: Sequence[float], subject: str) -> Figure:
    """The figure that `draw` writes. grid: the entry of the record; times: of the fields' parts, s."""
    if not shown:
        with sheet.style():
            return sheet.sheet(6.0, 1.2, subject, 0.0, "No fields were written.")
    if not is_plane(grid["shape"]):
        return lines_figure(f"{subject} up to {time_text(times[-1])}", [one.lines(grid, times) for one in shown])
    planes = [one.plane(grid) for one in shown]
    # Few fields leave room for the beginning above the end.
    return planes_figure(subject, planes, times, NO_VALUE, first=_place(grid), compared=COLUMNS)


def step_panel(record: Mapping[str, Any]) -> Panel:
    """Lines over the number of the step: its length, its iterations, and how often it was cut.

    Raises ValueError where the run has taken none.
    """
    results = record["results"]
    rows: Sequence[Row] = results["course"]
    unit, size = simulated_unit(max((row["step_seconds"] for row in rows), default=0.0))
    series = [
        Series("newton_iterations", "Newton's iterations", COLOURS["compute"], zero=True),
        Series("linear_iterations", "linear iterations", COLOURS["io"], zero=True),
        Series(
            "step_seconds",
            f"length of the step ({unit})",
            COLOURS["communication"],
            zero=True,
            size=size,
            may_be_log=True,
        ),
    ]
    if any(row["cut_steps"] for row in rows):
        series.append(Series("cut_steps", "times that the step was cut", POINT, zero=True, total=True))

    def caption(each: int) -> str:
        words = "Linear iterations are those of all of a step's Newton iterations together."
        return f"{words} Each place is the mean of {each} steps; cuts are their sum." if each > 1 else words

    return series_panel(
        "steps",
        "Time steps",
        rows,
        "step",
        lambda part, first: results["earlier_steps"] + first + (len(part) + 1) / 2,
        series,
        caption,
        steps=True,
    )
