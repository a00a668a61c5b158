"""Interface of a volume open for reading by one rank: its metadata, and blocks of its values.

A *block* holds the values of the half-open box [lo, hi) of a volume, in the order of the file's axes (slowest first).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.names import check_name
from fathometer.storage.reading import reading
from fathometer.storage.volumes.axis_labels import TIME as TIME
from fathometer.storage.volumes.place import Place
from fathometer.storage.volumes.stored import Stored
from fathometer.storage.volumes.survey_grid import SurveyGrid

Floats = NDArray[np.floating[Any]]
SPACE_AXES = 3  # at most; before them there may be an axis of steps


@dataclass(frozen=True)
class VolumeInfo:
    """Metadata of a volume as it is read; tuples are in the order of its axes, slowest first. That is the file's order,
    but for files that say that they are column-major; coordinates rise along each axis (stored.py)."""

    shape: tuple[int, ...]  # cells along each of two or three axes, or of four, the first of which is of steps
    dtype: np.dtype[Any]  # of the values in the file, its byte order included
    spacing: tuple[float, ...] | None  # m, of an axis labelled TIME s; None where the file carries none
    origin: tuple[float, ...] | None  # m, of an axis labelled TIME s; None where the file carries none
    labels: tuple[str, ...] | None  # names of the axes
    unit: str | None  # of the values
    survey: SurveyGrid | None = None  # where the axes but the last, fastest one lie in the survey's coordinates
    fills: tuple[float, ...] = field(default=(), compare=False)  # stored values of missing data, read as NaN
    partial: tuple[float | None, ...] = field(default=(), compare=False)  # spacing of some axes, where not of all
    firsts: tuple[float | None, ...] = field(default=(), compare=False)  # origin of some axes, where not of all
    feet: bool = field(default=False, compare=False)  # by the file lengths are in feet; spacing and origin are in m
    unplaced: str = field(default="", compare=False)  # why coordinates that the file has are no lengths or times
    uneven: str = field(default="", compare=False)  # why coordinates that the file has give no spacing
    unclear: str = field(default="", compare=False)  # why it is not known which way an axis runs
    place: Place = field(default_factory=Place)  # of its axes x and y in the world
    datum: str = field(default="", compare=False)  # name of the level that depth or time counts from; "": not known
    titles: tuple[str, ...] = field(default=(), compare=False)  # names and descriptions of the values, by the file
    notes: tuple[str, ...] = field(default=(), compare=False)  # on what the file has and is not used, or was taken
    made: tuple[str, ...] = field(default=(), compare=False)  # lines on how values were made, for formats with text

    @property
    def axis_units(self) -> tuple[str, ...]:
        """Unit of spacing and origin along each axis: "m" or "s"."""
        labels = self.labels or ("",) * len(self.shape)
        return tuple("s" if label == TIME else "m" for label in labels)

    @property
    def in_time(self) -> bool:
        """Whether an axis is time."""
        return "s" in self.axis_units

    @property
    def fill_words(self) -> str:
        """What stands for missing data, to follow a file's name in messages."""
        numbers = " and ".join(f"{fill:g}" for fill in self.fills)
        return numbers and f", where {numbers} stands for missing data"

    @property
    def stepped(self) -> bool:
        """Whether the first axis is of steps, one volume of the other axes after the other."""
        leading_time = self.labels is not None and self.labels[0] == TIME
        return len(self.shape) > SPACE_AXES or (len(self.shape) == SPACE_AXES and leading_time)


@runtime_checkable
class Volume(Protocol):
    """A volume open for reading; a context manager."""

    path: Path
    info: VolumeInfo
    stored: Stored
    levels: int  # of box means in the file, beside it

    def read(self, lo: Sequence[int], hi: Sequence[int]) -> Floats:
        """The block [lo, hi), shape hi - lo, as a C-contiguous copy in native byte order and the dtype of `float_type`;
        NaN where the file has one of `info.fills`.

        InputError where the box does not lie within the volume or cannot be read.
        """

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from, in a fixed order, each once; also one that is missing and
        would count if it were there. A change of the volume is a change of one of these or of their list.

        InputError where the format's own list of them cannot be read.
        """
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class BlockReader(ABC):
    """Base of the formats' volumes; a format adds `_block`, `files` and, if it holds a file open, `close`.

    stored: how the values lie in the file; None: as in the volume.
    """

    levels = 0  # of box means in the file, beside it

    def __init__(self, path: Path, info: VolumeInfo, stored: Stored | None = None) -> None:
        self.path = path
        self.info = info
        self.stored = stored or Stored(info.shape)

    def read(self, lo: Sequence[int], hi: Sequence[int]) -> Floats:
        """The block [lo, hi), shape hi - lo, as a C-contiguous copy in native byte order and the dtype of
        `float_type`; NaN where the file has one of `info.fills`."""
        check_box(self.path, self.info.shape, lo, hi)
        box = tuple(slice(int(a), int(b)) for a, b in zip(*self.stored.box(lo, hi), strict=True))
        with reading(self.path), ledger.io(bytes=self._bytes(box)):
            return as_floats(self._block(box), self.info, self.stored, copy=True)

    @abstractmethod
    def files(self) -> list[Path]:
        """Every file that metadata or values are read from, in a fixed order, each once; also one that is missing and
        would count if it were there."""

    @abstractmethod
    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        """The stored values of a box of the file's array, in its dtype."""

    def _bytes(self, box: tuple[slice, ...]) -> int:
        """Bytes that reading a block moves."""
        return math.prod(int(s.stop - s.start) for s in box) * self.info.dtype.itemsize

    def close(self) -> None:  # noqa: B027 - most formats hold no file open
        """Close the file; reading afterwards is an error of the caller."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """dtype that values are read as: float32 where exact (half, single, integers up to 16 bits), else float64."""
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    return np.dtype(np.float32 if dtype.itemsize <= 2 else np.float64)


def as_floats(block: NDArray[Any], info: VolumeInfo, stored: Stored, copy: bool | None = None) -> Floats:
    """A block as it is in the file as the volume's values: C-contiguous, of `float_type`, with the volume's axes, NaN
    where there are none by `info.fills` and `stored.valid`.

    copy: None: where needed.
    """
    block = stored.arranged(block)
    with np.errstate(over="ignore"):  # of a fill value that is none of the file's type
        missing = [block == fill for fill in info.fills]
    if stored.valid is not None:
        missing += [block < stored.valid[0], block > stored.valid[1]]
    with np.errstate(over="ignore", invalid="ignore"):  # of missing values
        values = np.array(stored.unpacked(block), dtype=float_type(info.dtype), order="C", copy=copy)
    for places in missing:
        values[places] = np.nan
    return values


def check_values(name: str, dtype: np.dtype[Any]) -> None:
    """InputError unless `dtype` is one real number a cell; name: of the array, for the message."""
    if dtype.fields is not None or dtype.subdtype is not None or dtype.kind not in "fiu":
        raise InputError(f"{name}: values of type {dtype} are not real numbers (allowed: floats and integers)")


def check_box(path: Path, shape: Sequence[int], lo: Sequence[int], hi: Sequence[int]) -> None:
    """InputError unless the box [lo, hi) lies within the shape."""
    inside = len(lo) == len(hi) == len(shape) and all(0 <= a <= b <= n for a, b, n in zip(lo, hi, shape, strict=True))
    if not inside:
        raise InputError(f"{path}: the block {tuple(lo)} to {tuple(hi)} does not lie within the shape {tuple(shape)}")


def check_info_names(path: Path, info: VolumeInfo) -> None:
    """InputError where a name that would go into the header of `path` holds a control character."""
    for axis, label in enumerate(info.labels or ()):
        check_name(label, f"{path}: label of axis {axis}")
    check_name(info.unit or "", f"{path}: unit")


def check_shape(name: str, shape: Sequence[int], most: int = SPACE_AXES + 1) -> tuple[int, ...]:
    """`shape` as a tuple; InputError unless it has two to `most` axes, all at least 1 long."""
    if not 2 <= len(shape) <= most:
        allowed = "2 to 4" if len(shape) > SPACE_AXES + 1 == most else "2 or 3"
        raise InputError(
            f"{name}: an array of {len(shape)} dimensions, shape {tuple(shape)}, where {allowed} are allowed"
        )
    if any(n < 1 for n in shape):
        raise InputError(f"{name}: shape {tuple(shape)} holds no cell")
    return tuple(int(n) for n in shape)
