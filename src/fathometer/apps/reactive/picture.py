"""The picture of a reactive flow: its fields at the end, as sections or, along one axis, as lines; flow.png."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.apps.reactive.line_figure import line_figure
from fathometer.apps.reactive.section_figure import section_figure
from fathometer.apps.reactive.sections import check_files
from fathometer.apps.reactive.shown import Shown, chosen, is_plane, show
from fathometer.base import ledger
from fathometer.pictures import sheet
from fathometer.report.scale import spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fathometer.apps.reactive.fields import Field
    from fathometer.apps.reactive.flow_file import FlowFile

PICTURE = "flow.png"
MOST_LINES = 8  # times along one axis
MOST_TIMES = 100  # of a single cell
MOST_VALUES = 2400  # along a side of a section


def draw(file: FlowFile, fields: Sequence[Field], times: Sequence[float]) -> Path:
    """Draw the fields that a run has written at some times, on one rank; returns the picture's path.

    Raises InputError where a volume cannot be read, FathometerError where the picture cannot be written.
    """
    grid, folder = file.grid, file.output_directory
    values = {"shape": grid.cells, "spacing_metres": grid.spacing, "origin_metres": grid.origin}
    most = 2 if is_plane(grid.cells) else MOST_LINES if max(grid.cells) > 1 else MOST_TIMES
    indices = spread(len(times), most)
    with ledger.file("fields", "read"):
        check_files(folder / field.file(n) for field in fields for n in indices)
        candidates = [show(folder, field, grid.cells, indices, MOST_VALUES) for field in fields]
    path = folder / PICTURE
    sheet.save(flow_figure(chosen(candidates), values, [times[n] for n in indices], file.path.stem), path)
    return path


def flow_figure(shown: Sequence[Shown], grid: Mapping[str, Any], times: Sequence[float], subject: str) -> Figure:
    """The figure that `draw` writes. grid: the entry of the record; times: of the fields' parts, s."""
    if not shown:
        with sheet.style():
            return sheet.sheet(6.0, 1.2, subject, 0.0, "No fields were written.")
    drawn = section_figure if is_plane(grid["shape"]) else line_figure
    return drawn(shown, grid, times, subject)
