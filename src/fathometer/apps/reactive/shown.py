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
from fathometer.apps.reactive.times import times_text, unit_of
from fathometer.pictures.plane import downsampled

Values = npt.NDArray[np.floating]

MOST_FIELDS = 6
FEW = {"pH": 1, "minerals": 2, "totals": 4, "saturation": 2, "strength": 1, "molalities": 4}  # of a kind, in this order
CONCENTRATIONS = ("totals", "molalities", "strength")  # kinds whose colours may be logarithmic:
RATIO, MOST_RATIO = 1e2, 1e12  # where values differ by more than the first; what is below the second has one colour
CONSTANT = 1e-6  # of the magnitude: less than this is rounding of float32


@dataclass(frozen=True)
class Scale:
    """Range of a field's values.

    Attributes:
        low, high: of the colours; around the value where the field is constant. log: whether they are logarithmic.
        constant: the only value of the field; None where it varies. holes: some values are not finite.
        empty: all of them are not.
    """

    low: float
    high: float
    log: bool = False
    constant: float | None = None
    holes: bool = False
    empty: bool = False

    @property
    def plain(self) -> bool:
        """Whether the field has one value or none."""
        return self.empty or self.constant is not None


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
    finite = [part[np.isfinite(part)] for part in parts]
    holes = any(some.size < part.size for some, part in zip(finite, parts, strict=True))
    if not any(some.size for some in finite):
        return Scale(0.0, 1.0, holes=holes, empty=True)
    low = min(float(some.min()) for some in finite if some.size)
    high = max(float(some.max()) for some in finite if some.size)
    largest = max(abs(low), abs(high))
    if high - low <= CONSTANT * largest:
        middle = (low + high) / 2
        half = 0.5 * largest or 0.5
        return Scale(middle - half, middle + half, constant=middle, holes=holes)
    log = field.kind in CONCENTRATIONS and low > 0.0 and high > RATIO * low
    return Scale(max(low, high / MOST_RATIO) if log else low, high, log, holes=holes)


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


def spread(count: int, most: int) -> list[int]:
    """At most `most` of the numbers 0 to count - 1, the first and the last among them.

    >>> spread(11, 3)
    [0, 5, 10]
    """
    if count <= most:
        return list(range(count))
    return sorted({round(n * (count - 1) / (most - 1)) for n in range(most)})


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
