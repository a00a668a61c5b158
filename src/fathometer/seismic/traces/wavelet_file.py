"""Reader of a sampled wavelet: one time series from a .npy, .rsf or text file."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.traces.wavelet_columns import Row, TimeColumn, series_of_rows, unit_of_times
from fathometer.storage.reading import check_size, readable, reading
from fathometer.storage.volumes.axis_labels import SECONDS
from fathometer.storage.volumes.block import check_values
from fathometer.storage.volumes.formats.npy import read_npy_header
from fathometer.storage.volumes.formats.rsf import FORMATS, MARK, parse

Series = npt.NDArray[np.float64]
# What a text of a series may say in a comment of the ghosts of the sea surface.
GHOSTS = "# ghosts: "
KEPT, REMOVED, NO_GHOSTS = "kept", "removed", "none"


def read_series(path: Path) -> tuple[Series, TimeColumn | None]:
    """The series in a file, (ns,), float64: at least 2 samples, all finite and not all zero; and its times, where a
    text has a column of them, or the header of an RSF.

    The suffix gives the format. Axes of length 1 do not count. A .npy is never unpickled. A text holds numbers
    separated by blanks, commas or line ends; a # begins a comment. Raises InputError in one line for anything else.
    """
    readable(path)
    with reading(path):
        values, times = {".npy": _npy, ".rsf": _rsf}.get(path.suffix.lower(), _text)(path)
        series = np.asarray(values, dtype=np.float64).reshape(-1)
    if series.size < 2 or max(values.shape) != series.size:
        raise InputError(f"{path}: found an array of shape {values.shape}; allowed: one series of 2 or more samples")
    bad = np.flatnonzero(~np.isfinite(series))
    if bad.size:
        raise InputError(f"{path}: found {series[bad[0]]} in sample {bad[0]} of the series; allowed: finite numbers")
    if not np.any(series):
        raise InputError(f"{path}: found a series that is zero throughout; allowed: any other")
    return series, times


def ghosts_of_series(path: Path) -> str | None:
    """What a text of a series says of ghosts: KEPT, REMOVED or NO_GHOSTS; None where it says nothing. InputError where
    it cannot be read."""
    if path.suffix.lower() in (".npy", ".rsf"):
        return None
    with reading(path):
        lines = readable(path).read_text(encoding="utf-8", errors="replace").splitlines()
    for line in lines:
        if line.startswith(GHOSTS):
            word = line[len(GHOSTS) :].partition(" ")[0]
            return word if word in (KEPT, REMOVED, NO_GHOSTS) else None
    return None


def series_files(path: Path) -> list[Path]:
    """The file of a series, and the one that an RSF header names, if any. InputError where it cannot be read."""
    if path.suffix.lower() != ".rsf":
        return [path]
    with reading(path):
        head, mark, _ = readable(path).read_bytes().partition(MARK)
    values = parse(head.decode(errors="surrogateescape")).get("in")
    return [path] if mark or values is None else [path, path.parent / values]


def _npy(path: Path) -> tuple[npt.NDArray[Any], None]:
    with path.open("rb") as file:
        shape, _, dtype = read_npy_header(file, str(path))
        check_values(str(path), dtype)
        data = file.read()
    count = math.prod(shape)
    check_size(path, len(data), count * dtype.itemsize, f"its header (shape {shape}, {dtype})")
    return np.frombuffer(data, dtype).reshape(shape), None


def _rsf(path: Path) -> tuple[npt.NDArray[Any], TimeColumn | None]:
    head, mark, data = path.read_bytes().partition(MARK)
    pairs = parse(head.decode(errors="surrogateescape"))
    style = pairs.get("data_format", "native_float")
    if style not in FORMATS:
        raise InputError(f"{path}: found data_format={style!r}; allowed: {', '.join(FORMATS)}")
    lengths = [pairs[name] for name in (f"n{axis}" for axis in range(9, 0, -1)) if name in pairs]
    if not lengths or not all(length.isdecimal() for length in lengths):
        raise InputError(f"{path}: is not the RSF header of a series: n1 to be found, and whole numbers for all axes")
    shape = tuple(int(length) for length in lengths)
    binary = path
    if not mark:
        if "in" not in pairs:
            raise InputError(f'{path}: the RSF header has no in="…", the file of the values')
        binary = path.parent / pairs["in"]
        with reading(readable(binary)):
            data = binary.read_bytes()
    dtype = np.dtype(FORMATS[style])
    check_size(binary, len(data), math.prod(shape) * dtype.itemsize, f"the header {path}")
    return np.frombuffer(data, dtype).reshape(shape), _rsf_times(pairs, shape)


def _rsf_times(pairs: Mapping[str, str], shape: tuple[int, ...]) -> TimeColumn | None:
    """The times that a header says of its one long axis; None where it says none. A step of 1 without a unit counts
    samples."""
    axis = len(shape) - int(np.argmax(shape))
    unit = pairs.get(f"unit{axis}", "").strip().lower()
    try:
        first, step = float(pairs.get(f"o{axis}", "0")), float(pairs.get(f"d{axis}", "nan"))
    except ValueError:
        return None
    if not (math.isfinite(first) and 0 < step < math.inf) or (not unit and step == 1.0):
        return None
    return TimeColumn(first, step, max(shape), unit if unit in SECONDS else "", f"header (d{axis}, o{axis})")


def _text(path: Path) -> tuple[Series, TimeColumn | None]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8; allowed: .npy, .rsf or a text of numbers") from None
    rows: list[Row] = []
    unit: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].replace(",", " ").split()
        said = unit_of_times(line) if not rows and line.strip() else None
        unit = unit if said is None else said
        if said is not None and not re.search(r"\d", line):
            continue  # it names the columns
        if words:
            rows.append(Row(number, tuple(_number(path, word, number) for word in words)))
    return series_of_rows(path, rows, unit)


def _number(path: Path, word: str, line: int) -> float:
    try:
        return float(word)
    except ValueError:
        raise InputError(f"{path}: found {word!r} in line {line}; allowed: numbers, and comments after #") from None
