"""Sections through a flow's fields, for the picture and the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.storage.probe import HDF5, probe_together
from fathometer.storage.reading import decoding, readable, reading
from fathometer.storage.volumes.formats.hdf5 import DATASET
from fathometer.storage.volumes.formats.hdf5_common import file_to_read


@dataclass(frozen=True, eq=False)
class Section:
    """A plane of cells through the middle of the grid: the two longest axes; along one axis: a line.

    Attributes:
        axes: numbers of the axes that it spans. place: index along the third one.
    """

    axes: tuple[int, int]
    across: int
    place: int


def section_of(shape: Sequence[int]) -> Section:
    """The section through the middle: x and z where the grid has both, else the axes with cells."""
    order = sorted(range(3), key=lambda axis: (shape[axis] == 1, axis == 1, axis))
    across = order[2]
    one, other = sorted(order[:2])
    return Section((one, other), across, shape[across] // 2)


def check_files(paths: Iterable[Path]) -> None:
    """Have a child open those of the files that there are, before this process does.

    Raises InputError that names one that HDF5 cannot survive.
    """
    probe_together([path for path in paths if path.is_file()], HDF5, "HDF5")


def read_section(path: Path, shape: Sequence[int], section: Section) -> npt.NDArray[np.float32]:
    """Values of a field (z, y, x in its file) on a section: its first axis by its second.

    The files have passed `check_files`: the readers of storage/volumes would start a child for each.

    Raises InputError where the file cannot be read or has other cells than `shape` (x, y, z).
    """
    box = [slice(None)] * 3
    box[section.across] = slice(section.place, section.place + 1)
    readable(path)
    with reading(path), decoding(path, "is not a readable field"), file_to_read(path) as file:
        dataset = file[DATASET]
        if tuple(dataset.shape) == tuple(shape)[::-1]:
            values = dataset[tuple(box[::-1])].transpose(2, 1, 0)
            return np.asarray(values.squeeze(axis=section.across), np.float32)
        found, needed = (" × ".join(map(str, cells)) for cells in (dataset.shape[::-1], shape))
    raise InputError(f"{path}: holds {found} cells; needed: {needed}, those of the run")


def block_centres(grid: Mapping[str, Any], axis: int, cells: int) -> npt.NDArray[np.float64]:
    """Centres along an axis, m, of blocks of so many cells; grid: the entry of the record."""
    start, step, count = (grid[key][axis] for key in ("origin_metres", "spacing_metres", "shape"))
    return np.asarray(start + (np.arange(count // cells) + 0.5) * cells * step)
