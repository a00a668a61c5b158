"""What a file states of its axes (names, coordinates, units, direction) as spacing, origin and flips of a volume.

Along each axis of a volume coordinates rise, and z is a depth: an axis whose coordinates fall, or rise upward, is read
from its other end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.volumes.axis_labels import (
    TIME,
    axis_of,
    counted,
    counts_cells,
    downward,
    nameless,
    one_way,
    unit_in,
    unit_of_axis,
    upward,
)
from fathometer.storage.volumes.survey_grid import simplest

DOWN, UP = "down", "up"
POSITIVE = 'needed: the attribute positive, "up" or "down" (RSF: a key such as positive1)'
REGULAR = 1e-3  # of a step: coordinates may lie so far beside a regular grid
COARSEST = 0.1  # of a step, where rounding explains it
SMALL = 0.05  # m: steps of models are hardly ever below


@dataclass(frozen=True)
class StatedAxis:
    """What a file states of an axis.

    Attributes:
        label: its name; "": none. coordinates: (cells,), in `units`; None: none. units: text; "": none.
        positive: "up", "down", other text, or "": not stated. standard_name, long_name, axis: by the CF conventions.
        first, step: m (s along an axis of time); with coordinates, they hold where these agree. cells: of the axis.
        rounding: relative, of the coordinates. ours: first and step are attributes by which this program writes depths.
    """

    label: str = ""
    coordinates: NDArray[np.float64] | None = None
    units: str = ""
    positive: str = ""
    standard_name: str = ""
    long_name: str = ""
    axis: str = ""
    first: float | None = None
    step: float | None = None
    cells: int = 1
    rounding: float = 0.0
    ours: bool = False

    @property
    def name(self) -> str:
        """The label, or where that is unknown what CF's attributes say instead; an axis of time in s is "t"."""
        label, axis = self.label, self.axis.strip().lower()
        if not axis_of(label):
            if axis in ("x", "y", "z"):
                label = axis
            elif axis_of(self.standard_name):
                label = axis_of(self.standard_name)
            elif (self.positive or upward(self.long_name)) and nameless(label):
                label = "z"
        return TIME if unit_of_axis(self.units, label)[1] else label


@dataclass(frozen=True)
class PlacedAxis:
    """An axis of a volume: label, first coordinate and step (m, or s; None: not known), whether it is flipped.

    unplaced: why the coordinates are no lengths or times. uneven: why they give no spacing. unclear: why it is not
    known which way it runs. note: what was taken though the file does not state it.
    """

    label: str
    first: float | None = None
    step: float | None = None
    flipped: bool = False
    unplaced: str = ""
    uneven: str = ""
    unclear: str = ""
    note: str = ""


def placed_axes(axes: Sequence[StatedAxis]) -> list[PlacedAxis]:
    """Where the axes of a volume, slowest first, begin, their steps, and whether they are read from their other ends.
    Where no axis has a name the last is z."""
    unnamed = all(nameless(axis.name) for axis in axes)
    return [_measured(axis, placed(axis, unnamed and number == len(axes))) for number, axis in enumerate(axes, 1)]


def _measured(axis: StatedAxis, found: PlacedAxis) -> PlacedAxis:
    """An axis without first coordinate and step where they are no lengths and no two-way times; with a note where its
    steps are so small that its unit may be another one."""
    label, why = axis.label or axis.name, ""
    if axis.ours or (axis.step is None and axis.coordinates is None):
        return found
    if (
        found.step is not None
        and found.step < SMALL
        and found.label != TIME
        and not (axis.units.strip() or unit_in(label))
    ):
        found = replace(found, note=f"{_named(label)} has no unit, and its steps of {found.step:g} are taken as m")
    whole = found.step == 1.0 and (found.first or 0.0).is_integer()
    if not (axis.units.strip() or unit_in(label)) and (counted(label) or (whole and counts_cells(label))):
        what = "lines or traces" if counted(label) else "cells"
        why = f"{_named(label)} counts {what}, and has no unit of length: its numbers are no metres"
    elif found.label == TIME and any(map(one_way, (label, axis.standard_name, axis.long_name))):
        why = f"{_named(label)} is of one-way time, which is half of two-way time"
    return replace(found, first=None, step=None, uneven="", unplaced=why) if why else found


def placed(axis: StatedAxis, depth: bool = False) -> PlacedAxis:
    """Where an axis begins, its step, and whether it is read from its other end. depth: it is z though no name says
    so."""
    label, positive = axis.name, axis.positive.strip().lower()
    vertical = axis_of(label) == "z" or bool(positive)
    if vertical and positive not in ("", UP, DOWN):
        return PlacedAxis(label, unclear=f'{_named(label)}: positive = "{axis.positive}"; allowed: "up", "down"')
    names = (label, axis.label, axis.standard_name, axis.long_name)
    raised = any(map(upward, names))
    if vertical and raised and not positive and any(map(downward, names)):
        return PlacedAxis(label, unclear=f"{_named(label)}: its names say both up and down; {POSITIVE}")
    sense = UP if vertical and (positive == UP or (not positive and raised)) else DOWN
    told = bool(positive) or raised or axis.standard_name.lower().startswith("depth") or axis_of(label) in ("x", "y")
    down = vertical or depth or axis_of(label) == TIME  # counted from above, so that it is not all negative
    if axis.coordinates is not None and len(axis.coordinates):
        return _by_coordinates(axis, label, axis.coordinates, sense, told, down)
    if unit_of_axis(axis.units, label)[0] is None:
        return PlacedAxis(label, unplaced=f'{_named(label)}: its unit is "{axis.units}"')
    if axis.step is not None:
        return _by_step(axis, label, axis.step, sense, told or axis.ours, down)
    if sense == UP:
        why = f"{_named(label)} counts upward, and no coordinates say which end is at the top"
        return PlacedAxis(label, unclear=why)
    return PlacedAxis(label, axis.first)


def _by_step(axis: StatedAxis, label: str, step: float, sense: str, told: bool, down: bool) -> PlacedAxis:
    """Of a first coordinate and a step. told: whether it is known which way the axis runs (z: a depth or a height).
    down: the axis is z or time."""
    first = axis.first or 0.0
    last = first + (axis.cells - 1) * step
    if (step < 0 or down) and axis.cells > 1 and not told and max(first, last) <= 0:
        return _unclear(label, first, last)
    if sense == UP:
        first, last, step = -first, -last, -step
    if step < 0:
        return PlacedAxis(label, last, -step, flipped=True)
    return PlacedAxis(label, None if axis.first is None else first, step)


def _by_coordinates(
    axis: StatedAxis, label: str, coordinates: NDArray[np.float64], sense: str, told: bool, down: bool
) -> PlacedAxis:
    """Of a coordinate for each cell. told, down: see _by_step."""
    factor, _ = unit_of_axis(axis.units, label)
    values = np.asarray(coordinates, np.float64) * (1.0 if factor is None else factor) * (-1.0 if sense == UP else 1.0)
    if not np.isfinite(values).all():
        return PlacedAxis(label, uneven=f"{_named(label)}: a coordinate is no number")
    if factor is not None and sense == DOWN and _agrees(values, axis):
        return PlacedAxis(label, axis.first, axis.step)
    steps = np.diff(values)
    flipped = bool(len(steps) and (steps < 0).all())
    if len(steps) and not flipped and not (steps > 0).all():
        angles = "degree" in axis.units.lower()  # which may begin anew at 0
        why = f"{_named(label)}: its coordinates neither rise nor fall"
        return PlacedAxis(label, uneven=why, unclear="" if angles else why)
    known = factor is not None or label != TIME  # days since a date are no two-way times
    if not told and len(values) > 1 and values.max() <= 0 and (flipped or down) and known:
        return _unclear(label, values[0], values[-1])
    if factor is None:
        return PlacedAxis(label, flipped=flipped, unplaced=f'{_named(label)}: its unit is "{axis.units}"')
    first, step, regular = _grid(values[::-1] if flipped else values, axis.rounding)
    if not regular:
        return PlacedAxis(label, flipped=flipped, uneven=f"{_named(label)}: its coordinates are not evenly spaced")
    return PlacedAxis(label, first, step, flipped)


def _unclear(label: str, first: float, last: float) -> PlacedAxis:
    kind, wanted = ("two-way times", "two-way time") if label == TIME else ("depths", "depth")
    why = f"{_named(label)} runs from {first:g} to {last:g}: are these {kind}? needed: coordinates of {wanted}, or with"
    return PlacedAxis(label, unclear=f"{why} {POSITIVE.removeprefix('needed: ')}")


def together(axes: Sequence[PlacedAxis]) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
    """Spacing and origin of a volume; None where those of an axis are not known."""
    steps, firsts = [axis.step for axis in axes], [axis.first for axis in axes]
    spacing, origin = ([n for n in numbers if n is not None] for numbers in (steps, firsts))
    return tuple(spacing) if len(spacing) == len(axes) else None, tuple(origin) if len(origin) == len(axes) else None


def _agrees(values: NDArray[np.float64], axis: StatedAxis) -> bool:
    """Whether coordinates are those of the axis' first one and step."""
    if axis.step is None:
        return False
    wanted = (axis.first or 0.0) + axis.step * np.arange(len(values))
    return bool(np.allclose(values, wanted, rtol=1e-6, atol=1e-4 * abs(axis.step)))


def _grid(values: NDArray[np.float64], rounding: float) -> tuple[float, float | None, bool]:
    """First coordinate, step, and whether rising values lie on this regular grid. Of one value the step is None."""
    error = float(4 * max(rounding, np.finfo(np.float64).eps) * np.abs(values).max())
    first = simplest(float(values[0]), error)
    if len(values) < 2:
        return first, None, True
    step = float(values[-1] - values[0]) / (len(values) - 1)
    beside = float(np.abs(values - (values[0] + step * np.arange(len(values)))).max())
    step = simplest(step, 2 * error / (len(values) - 1))
    return first, step, beside <= max(REGULAR * step, min(error, COARSEST * step))


def _named(label: str) -> str:
    return f'the axis "{label}"' if label else "an axis without a name"
