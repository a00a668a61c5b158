"""RSF, Madagascar's regularly sampled format: a text header of key=value pairs, and raw values in a file.

Axis 1 is the fastest, so that n1 is the last entry of a shape. The last value of a repeated key counts; so do the first
two axes and all up to the last one longer than 1. The values are in the file that `in` names (absolute, or relative to
the header's folder), or, where `in` is "stdin", in the header file after the three bytes FF FF EOT. Reference:
Madagascar's "Guide to RSF file format" (ahay.org).
"""

from __future__ import annotations

import contextlib
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError, naming
from fathometer.base.meant import did_you_mean
from fathometer.storage.reading import readable, reading
from fathometer.storage.volumes.axis_labels import TIME, VALUE_UNIT, axis_of, unit_of_axis, unit_of_values
from fathometer.storage.volumes.block import BlockReader, VolumeInfo, check_shape
from fathometer.storage.volumes.formats.axis_metadata import OTHER_PACKING, PACKING, UNAPPLIED, unapplied
from fathometer.storage.volumes.formats.memory_map import MappedVolume
from fathometer.storage.volumes.formats.place_metadata import place_of, rsf_lines
from fathometer.storage.volumes.place import Place
from fathometer.storage.volumes.stated_axes import DOWN, StatedAxis, placed_axes, together
from fathometer.storage.volumes.stored import Stored

MARK = b"\x0c\x0c\x04"  # end of a header whose values follow in the same file
LONGEST_HEADER = 1 << 20  # bytes; a longer "header" is a file of something else
FORMATS = {"native_float": "=f4", "native_double": "=f8", "xdr_float": ">f4", "xdr_double": ">f8"}
UNIT_KEYS = ("unit", *VALUE_UNIT)  # of values, and with a number of an axis
ANY_CASE = re.compile(r"(label|positive|units?)\d*", re.IGNORECASE)  # keys that count in any letter case
PAIR = re.compile(r"""(?:^|(?<=\s))([A-Za-z_]\w*)=(?:(["'])(.*?)\2|(\S*))""")


def open_rsf(path: Path, key: str | None = None) -> MappedVolume:
    """Open an RSF for reading. InputError: not RSF, a key missing or wrong, the values missing or of another size.

    Spacing and origin are converted to metres from km or ft, to seconds from ms; they are None where an axis is neither
    length nor time, the spacing also where an axis has none. An axis in seconds has the label "t", and one with a label
    of time and no unit is in seconds. An axis with a negative step is read from its other end.
    """
    values, length, mark = _header(path, key)
    info, stored = rsf_info(path, values)
    data = values.get("in")
    if data is None:
        raise InputError(f'{path}: the RSF header has no in="…", the file of the values')
    if data == "stdin":
        if not mark:
            raise InputError(f'{path}: in="stdin", but the bytes 0c 0c 04 that precede the values are missing')
        return MappedVolume(path, info, path, length + len(MARK), stored=stored)
    if not (path.parent / data).exists():
        raise InputError(f'{path.parent / data}: no such file; {path} names it as the file of its values, in="{data}"')
    return MappedVolume(path, info, path.parent / data, 0, stored=stored)


class HeaderOnly(BlockReader):
    """An RSF without its values."""

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from, in a fixed order, each once; also one that is missing and
        would count if it were there."""
        return [self.path]

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        raise InputError(f"{self.path}: the values are missing, only the header is there")


def rsf_header_only(path: Path, key: str | None = None) -> MappedVolume | HeaderOnly:
    """As open_rsf, but also where the header names no values, or their file is missing."""
    values, _, mark = _header(path, key)
    data = values.get("in")
    missing = data is None or (not mark if data == "stdin" else not (path.parent / data).exists())
    return HeaderOnly(path, *rsf_info(path, values)) if missing else open_rsf(path, key)


def _header(path: Path, key: str | None) -> tuple[dict[str, str], int, bool]:
    """Pairs and length (bytes) of a header, and whether values follow in the same file."""
    if key is not None:
        raise InputError(f"{path}:{key}: an .rsf file holds one array and takes no key")
    readable(path)
    with reading(path), path.open("rb") as file:
        head, mark, _ = file.read(LONGEST_HEADER).partition(MARK)
    if not mark and (len(head) == LONGEST_HEADER or b"\0" in head):
        raise InputError(f"{path}: is not an RSF header (binary data where key=value text is expected)")
    return parse(head.decode(errors="surrogateescape")), len(head), bool(mark)


def parse(text: str) -> dict[str, str]:
    """The pairs of a header, unquoted; the last of a repeated key counts, lines that begin with # are comments.

    text: bytes that are not UTF-8 as lone surrogates, which stay in the name of the file of the values.
    """
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    pairs = {key: quoted or plain.strip("\"'") for line in lines for key, _, quoted, plain in PAIR.findall(line)}
    replaced = {key: value.encode(errors="surrogateescape").decode(errors="replace") for key, value in pairs.items()}
    return replaced | {key: pairs[key] for key in pairs.keys() & {"in"}}


def rsf_info(path: Path, values: dict[str, str]) -> tuple[VolumeInfo, Stored]:
    """Metadata of a volume from its header's pairs, and how it is stored; InputError where they are missing, wrong or
    contradictory."""
    values = {key.lower(): value for key, value in values.items() if ANY_CASE.fullmatch(key)} | values
    data_format = values.get("data_format", "native_float")
    if data_format not in FORMATS:
        meant = did_you_mean(data_format, FORMATS)
        raise InputError(f"{path}: data_format={data_format!r} is not supported (allowed: {', '.join(FORMATS)}){meant}")
    dtype = np.dtype(FORMATS[data_format])
    esize = _number(path, values, "esize", dtype.itemsize)
    if esize != dtype.itemsize:
        raise InputError(f"{path}: esize={esize:g} contradicts data_format={data_format!r} (expected {dtype.itemsize})")

    lengths: list[int] = []
    while (name := f"n{len(lengths) + 1}") in values:
        length = _number(path, values, name, 0)
        if not 1 <= length < 2**63 or length != int(length):
            raise InputError(f"{path}: {name}={values[name]!r} is not a whole number of at least 1")
        lengths.append(int(length))
    if not lengths:
        raise InputError(f"{path}: the RSF header has no n1, the length of the fastest axis")
    while len(lengths) > 2 and lengths[-1] == 1:
        lengths.pop()
    shape = check_shape(str(path), lengths[::-1])

    numbers = range(len(lengths), 0, -1)
    axes = placed_axes([_stated_axis(path, values, number, lengths[number - 1]) for number in numbers])
    labels = tuple(axis.label for axis in axes)
    spacing, origin = together(axes)
    info = VolumeInfo(
        shape,
        dtype,
        spacing,
        origin,
        labels if any(labels) else None,
        next((values[key] for key in UNIT_KEYS if values.get(key)), "")
        or unit_of_values(values.get("label", ""))
        or None,
        partial=() if spacing else tuple(axis.step for axis in axes),
        firsts=() if origin else tuple(axis.first for axis in axes),
        unplaced="; ".join(axis.unplaced for axis in axes if axis.unplaced),
        unclear="; ".join(axis.unclear for axis in axes if axis.unclear),
        place=_place(path, values),
        notes=(*(axis.note for axis in axes if axis.note), *_unapplied_notes(values)),
        titles=(values["label"],) if values.get("label") else (),
    )
    return info, Stored(shape, flipped=tuple(axis.flipped for axis in axes))


def _stated_axis(path: Path, values: dict[str, str], number: int, cells: int) -> StatedAxis:
    """What the header has of an axis, 1 the fastest. Where one axis has an o, that of the others is 0 by default."""
    label = values.get(f"label{number}", "")
    unit = next((values[f"{key}{number}"] for key in UNIT_KEYS if values.get(f"{key}{number}")), "")
    factor, _ = unit_of_axis(unit, label)
    first = step = None
    if f"d{number}" in values:
        step = _number(path, values, f"d{number}", 0) * (factor or 1.0)
        if not 0 < abs(step) < math.inf:
            raise InputError(f"{path}: d{number}: found {values[f'd{number}']}; allowed: any number but 0")
    if any(re.fullmatch(r"o[1-9]", key) for key in values):
        first = _number(path, values, f"o{number}", 0) * (factor or 1.0)
    positive = values.get(f"positive{number}", "")
    return StatedAxis(label, units=unit, positive=positive, first=first, step=step, cells=cells)


def _unapplied_notes(values: dict[str, str]) -> list[str]:
    """A note on keys of packing, which the format has not."""
    neutral, numbers = {**dict(PACKING), **OTHER_PACKING}, {}
    for key in values:
        if key.lower() in neutral:
            with contextlib.suppress(ValueError):
                numbers[key] = float(values[key])
    return [words + UNAPPLIED] if (words := unapplied(numbers, neutral)) else []


def _place(path: Path, values: dict[str, str]) -> Place:
    with naming(str(path)):
        return place_of(values)


def _number(path: Path, values: dict[str, str], key: str, default: float) -> float:
    try:
        number = float(values.get(key, default))
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise InputError(f"{path}: {key}={values[key]!r} is not a number")
    return number


def rsf_header(info: VolumeInfo, data: str) -> bytes:
    """The header of a volume whose values are in the file `data`, in native byte order."""
    data_format = "native_float" if info.dtype.itemsize == 4 else "native_double"
    lines = [f'in="{_quoted(data, name=True)}"', f'data_format="{data_format}"', f"esize={info.dtype.itemsize}"]
    for axis, length in enumerate(reversed(info.shape), start=1):
        lines.append(f"n{axis}={length}")
        if info.spacing is not None:
            lines += [f"d{axis}={float(info.spacing[-axis])!r}", f'unit{axis}="{info.axis_units[-axis]}"']
        if info.origin is not None:
            lines.append(f"o{axis}={float(info.origin[-axis])!r}")
            if _above_datum(info, -axis):
                lines.append(f'positive{axis}="{DOWN}"')
        if info.labels is not None:
            lines.append(f'label{axis}="{_quoted(info.labels[-axis])}"')
    if info.unit is not None:
        lines.append(f'unit="{_quoted(info.unit)}"')
    lines += rsf_lines(info.place)
    return ("\n".join(lines) + "\n").encode(errors="surrogateescape")


def _above_datum(info: VolumeInfo, axis: int) -> bool:
    """Whether an axis is of depths or times without any below 0, which might be heights to a reader."""
    label = "" if info.labels is None else info.labels[axis]
    vertical = axis_of(label) == "z" or (not label and axis == -1) or (label == TIME and info.shape[axis] > 1)
    if info.origin is None or info.spacing is None or not vertical:
        return False
    return info.origin[axis] + (info.shape[axis] - 1) * info.spacing[axis] <= 0


def _quoted(text: str, name: bool = False) -> str:
    """name: of a file, which may hold bytes that are not UTF-8."""
    shown = text.encode(errors="surrogateescape").decode(errors="replace") if name else text
    if '"' in text or not shown.isprintable():
        raise InputError(f"{text!r}: quotes and line ends cannot be written into an RSF header")
    return text
