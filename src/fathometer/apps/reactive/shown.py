"""What the picture and the page show of a flow's fields: which of them, their values, the range of their colours.

Of a grid along two or three axes: sections through its middle (sections.py). Along one axis: lines, one a time. Of a
single cell: its values over the times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.apps.reactive.chemistry.constraint_checks import ACID
from fathometer.apps.reactive.fields import Field
from fathometer.apps.reactive.sections import block_centres, read_section, section_of
from fathometer.pictures.plane import downsampled
from fathometer.report.scale import Scale, Values, range_of
from fathometer.report.times import times_text, unit_of

MOST_FIELDS = 6
FEW = {"pH": 1, "minerals": 2, "totals": 4, "saturation": 2, "strength": 1, "molalities": 4}  # of a kind, in this order
CONCENTRATIONS = ("totals", "molalities", "strength")  # kinds whose colours may be logarithmic


@dataclass(frozen=True, eq=False)
class Shown:
    """A field with its values at some times, each (first axis, second axis) of the section.

    Attributes:
        blocks: cells along both axes of which each value is the mean.
    """

    field: Field
    parts: tuple[Values, ...]
    blocks: tuple[int, int]
    scale: Scale

    @property
    def label(self) -> str:
        """The field's name with its unit, and what there is to say of its values."""
        name = label_of(self.field)
        if self.scale.empty:
            return f"{name}: no values"
        if self.scale.constant is None:
            return name
        return f"{name}: {self.scale.constant:.4g} {'where it has values' if self.scale.holes else 'everywhere'}"


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


def scale_of(field: Field, parts: Sequence[Values]) -> Scale:
    """The range of the finite values of all parts of a field."""
    return range_of(parts, field.kind in CONCENTRATIONS)


def show(folder: Path, field: Field, shape: Sequence[int], indices: Sequence[int], most: int) -> Shown:
    """A field with its values at the times `indices`, means over blocks of cells where there are more than `most` along
    an axis.

    Raises InputError where a file cannot be read or has other cells than `shape`.
    """
    section = section_of(shape)
    thinned = [downsampled(read_section(folder / field.file(n), shape, section), most) for n in indices]
    parts = tuple(part for part, _ in thinned)
    return Shown(field, parts, thinned[0][1], scale_of(field, parts))


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


@dataclass(frozen=True, eq=False)
class Lines:
    """A field along one axis, or of one cell over time: label of what is across; name, places and values of a line."""

    across: str
    lines: Sequence[tuple[str, npt.NDArray[np.float64], Values]]


def lines_of(shown: Shown, grid: Mapping[str, Any], times: Sequence[float]) -> Lines:
    """The lines of a field that is no plane. grid: the entry of the record; times: of the parts, s."""
    shape = grid["shape"]
    axis = max(range(3), key=lambda axis: shape[axis])
    if shape[axis] == 1:
        unit, size = unit_of(max(times))
        values = np.array([part.ravel()[0] for part in shown.parts])
        return Lines(f"time ({unit})", [("", np.array(times) / size, values)])
    places = block_centres(grid, axis, max(shown.blocks))
    names = times_text(times)
    return Lines(
        f"{'xyz'[axis]} (m)",
        [(name, places, part.ravel()) for name, part in zip(names, shown.parts, strict=True)],
    )
