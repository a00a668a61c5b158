"""The line that names the columns of picks, and the units in it: x(ft) t(ms) v(ft/s)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import InputError, shortened
from fathometer.seismic.model.velocity_units import known_units, metres_per_second
from fathometer.storage.volumes.axis_labels import METRES, SECONDS, axis_of, counted, one_way

COLUMNS = {3: ("x", "t", "v"), 4: ("x", "y", "t", "v")}
VELOCITIES = ("v", "vrms", "vnmo", "vel", "velocity", "velocities", "vstack")
OTHER_VELOCITIES = ("int", "interval", "vint", "avg", "average", "vavg", "inst", "instantaneous")
KINDS = "int|interval|avg|average|inst|instantaneous"
# In brackets or behind a name they are no units.
WORDS = ("rms", "nmo", "stack", "stacking", "twt", "two-way", "two way", "time", "x", "y", "coordinate", "position")
NAME = re.compile(r"[^\s,()\[\]]+(?:\s*[(\[][^)\]]*[)\]])?|[(\[][^)\]]*[)\]]")  # with its brackets


@dataclass(frozen=True)
class Column:
    """A column as the text names it: axis "x", "y", "t", "v", another one or "?"; its unit, "" where none is said."""

    axis: str
    unit: str


@dataclass(frozen=True)
class Units:
    """Units that the names of columns say, by "x", "y", "t", "v"."""

    said: Mapping[str, str]

    def joined(self, other: Units) -> Units:
        """Those of a later line too, which count where both say one."""
        return Units({**self.said, **other.said})

    @property
    def velocity(self) -> str | None:
        """That of velocities, as a survey has it; None where none is said."""
        return known_units(self.said.get("v"))

    def in_metres(self, axis: str, value: float) -> float:
        """A coordinate in m."""
        return value * METRES[self.said[axis]] if axis in self.said else value

    def in_seconds(self, value: float) -> float:
        """A time in s."""
        return value * SECONDS[self.said["t"]] if "t" in self.said else value

    def in_metres_per_second(self, value: float) -> float:
        """A velocity in m/s."""
        return float(metres_per_second(value, self.velocity or "m/s")) if value else value


def units_of_names(path: Path, number: int, line: str, width: int | None, comment: bool = False) -> Units:
    """The units in a line that names columns, without its # where it is a comment; none where it names others.

    InputError where it names another order of columns, or what picks cannot hold.
    """
    texts = _joined(NAME.findall(line))
    columns = [_column(text) for text in texts]
    axes = tuple(column.axis for column in columns)
    known = [COLUMNS[width]] if width else list(COLUMNS.values())
    if comment and sorted(axes) not in [sorted(names) for names in COLUMNS.values()]:
        return Units({})  # it speaks of something else
    if "?" in axes and all(_plain(column.unit) for column in columns):
        return Units({})
    for text in texts:
        _check_kind(path, number, text)
    if axes not in known:
        allowed = " or ".join(" ".join(names) for names in known)
        raise InputError(f"{path}: line {number} names the columns {shortened(' '.join(texts))}; needed: {allowed}")
    for column, text in zip(columns, texts, strict=True):
        _check_unit(path, number, column, text)
    return Units({column.axis: column.unit for column in columns if column.unit})


def other_velocity(title: str) -> bool:
    """Whether what a file calls its velocities names others than RMS velocities.

    >>> titles = ("vint", "interval_velocity", "Velocity, average", "RMS velocity of the interval", "v", "point 7")
    >>> [other_velocity(title) for title in titles]
    [True, True, True, False, False, False]
    """
    words = " ".join(re.findall(r"[a-z]+", title.lower()))
    if re.search(r"\b(v?rms|v?nmo|v?stack(ing)?)\b", words):
        return False
    return re.search(rf"\b(v ?({KINDS})|({KINDS}) ?vel\w*|vel\w* ?({KINDS}))\b", words) is not None


def _joined(texts: list[str]) -> list[str]:
    """Names with the units that follow them as words of their own: v, m/s."""
    found: list[str] = []
    for text in texts:
        if found and _unit_of(text) and not _parts(found[-1])[1]:
            found[-1] = f"{found[-1]}({_unit_of(text)})"
        else:
            found.append(text)
    return found


def _column(text: str) -> Column:
    name, unit = _parts(text)
    lower = name.lower()
    words = re.findall(r"[a-z]+", lower)
    if lower in VELOCITIES or (words and words[0] in VELOCITIES) or any(word in OTHER_VELOCITIES for word in words):
        return Column("v", unit)
    return Column(axis_of(name) or "?", unit)


def _parts(text: str) -> tuple[str, str]:
    """A name and its unit: in brackets, or behind the last _."""
    name, bracket, rest = text.partition("(" if "(" in text else "[")
    if bracket:
        inside = rest.strip(" )]").lower()
        return name.strip(), "" if inside in WORDS else inside
    before, _, after = text.rpartition("_")
    return (before, after.lower()) if before and _unit_of(after) else (text, "")


def _unit_of(text: str) -> str:
    """A text that is a unit, alone or in brackets; else ""."""
    inside = text.strip("()[] ").lower()
    return inside if inside in METRES or inside in SECONDS or known_units(inside) else ""


def _plain(unit: str) -> bool:
    """Whether numbers in a unit stay what they are."""
    return not unit or 1.0 in (METRES.get(unit), SECONDS.get(unit)) or known_units(unit) == "m/s"


def _check_kind(path: Path, number: int, text: str) -> None:
    """InputError for a column of something that picks do not hold."""
    where, words = f"{path}: line {number} names the column {shortened(text)}", re.findall(r"[a-z]+", text.lower())
    if one_way(text):
        raise InputError(f"{where}; needed: two-way time, twice that")
    if counted(text):
        raise InputError(f"{where}, which counts; needed: x and y in m")
    if any(word in OTHER_VELOCITIES for word in words):
        raise InputError(f"{where}; needed: RMS (stacking) velocities")


def _check_unit(path: Path, number: int, column: Column, text: str) -> None:
    """InputError where the unit of a column is none of its kind."""
    kinds = {"t": (SECONDS, "s, ms"), "v": (None, "m/s, km/s, ft/s, s/km, s2/km2")}
    table, names = kinds.get(column.axis, (METRES, "m, km, ft"))
    fits = known_units(column.unit) is not None if table is None else column.unit in table
    if column.unit and not fits:
        raise InputError(f"{path}: line {number} names the column {shortened(text)}; known units: {names}")
