"""Files of exact sums of contributions: RUN-GROUP-N.sum in the journal.

one line of JSON with version and checksum (seal.py), padded with spaces up to the offset `data`: tasks (key "shots")
and the hashes of what they have read ("inputs"), shape, top and checksum of each volume
int64, for each volume: limbs (2, nx, ny, nz), as in exact_sum.py
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from fathometer.base.errors import FathometerError
from fathometer.base.removal import remove_file
from fathometer.parallel.decomposition import Index3
from fathometer.runs.exact_sum import LIMBS, Limbs
from fathometer.runs.seal import sealed, unsealed
from fathometer.storage import atomic

SLAB_CELLS = 1 << 20  # of a volume that are summed at a time
PAGE_BYTES = 4096
MAX_HEAD_BYTES = 1 << 28
ITEM_BYTES = 8  # int64
CELL_BYTES = LIMBS * ITEM_BYTES
# Contributions are summed when they take so many times the bytes of their sum. Where sums are in memory (held_sums.py)
# tasks are short, and wait while a sum is written.
FOLD_RATIO, HELD_RATIO = 2.0, 4.0


def max_loose_bytes(cells: int, held: bool = False) -> float:
    """Bytes of contributions to one volume of so many cells that a group of ranks leaves unsummed, at most; held: their
    sum is in memory too."""
    return (HELD_RATIO if held else FOLD_RATIO) * CELL_BYTES * cells


def on_disk(cells: int, contribution: float, tasks: int, held: bool = False) -> tuple[float, float]:
    """Bytes on disk of contributions to one volume and of their sums, for the tasks of one group of ranks.

    cells: of the volume. contribution: bytes of each. tasks: number of them. held: as of max_loose_bytes. Returns the
    maximum, reached while contributions are summed and both the previous sum and the new one exist, and the bytes after
    all tasks.
    """
    together = math.ceil(max_loose_bytes(cells, held) / contribution)
    sums, loose = divmod(tasks, together)
    largest = min(tasks, together) * contribution + min(sums, 2) * CELL_BYTES * cells
    return largest, loose * contribution + min(sums, 1) * CELL_BYTES * cells


class DamagedSumError(FathometerError):
    """The file of a sum is incomplete or has another format."""


@dataclass(frozen=True)
class SumFile:
    """A sum on disk, complete.

    Attributes:
        tasks: whose contributions it contains. inputs: hashes of what these have read.
        shape: cells of each volume (nx, ny, nz).
        tops, checksums: of each volume, by name. data: offset of the limbs, bytes.
    """

    path: Path
    tasks: tuple[int, ...]
    inputs: tuple[str, ...]
    shape: Index3
    tops: Mapping[str, int]
    checksums: Mapping[str, int]
    data: int

    @classmethod
    def planned(cls, path: Path, inputs: Mapping[int, str], shape: Index3, tops: Mapping[str, int]) -> Self:
        """A sum that is to be written, without its checksums; inputs: by the numbers of its tasks."""
        tasks = tuple(sorted(inputs))
        of_tasks = tuple(inputs[task] for task in tasks)
        draft = cls(path, tasks, of_tasks, shape, tops, dict.fromkeys(tops, (1 << 64) - 1), 1 << 62)
        return cls(path, tasks, of_tasks, shape, tops, {}, -(-len(draft._text()) // PAGE_BYTES) * PAGE_BYTES)

    def _text(self) -> bytes:
        entries = {
            "shots": self.tasks,
            "inputs": self.inputs,
            "shape": self.shape,
            "data": self.data,
            "volumes": {name: {"top": top, "checksum": self.checksums[name]} for name, top in self.tops.items()},
        }
        return sealed(entries).encode() + b"\n"

    @property
    def head(self) -> bytes:
        """The bytes before the limbs."""
        return self._text().ljust(self.data)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.data + len(self.tops) * LIMBS * self._limb_bytes

    @property
    def _limb_bytes(self) -> int:
        return ITEM_BYTES * self.shape[0] * self._plane_cells

    @property
    def _plane_cells(self) -> int:
        return self.shape[1] * self.shape[2]

    def places(self, volume: str, first: int) -> list[int]:
        """Offsets in the file, bytes, of plane `first` (along x) of each limb of a volume."""
        start = self.data + list(self.tops).index(volume) * LIMBS * self._limb_bytes
        return [start + n * self._limb_bytes + ITEM_BYTES * first * self._plane_cells for n in range(LIMBS)]

    def limbs(self, volume: str, first: int, end: int) -> Limbs:
        """The limbs of the planes first to end - 1, int64 (2, end - first, ny, nz).

        Raises FathometerError where they cannot be read.
        """
        limbs = np.empty((LIMBS, end - first, *self.shape[1:]), np.int64)
        try:
            handle = os.open(self.path, os.O_RDONLY)
            try:
                for limb, place in zip(limbs, self.places(volume, first), strict=True):
                    if atomic.read_at(handle, atomic.octets(limb), place) < limb.nbytes:
                        raise FathometerError(f"{self.path}: ends too early")
            finally:
                os.close(handle)
        except OSError as error:
            raise FathometerError(f"{self.path}: cannot be read: {error.strerror}") from None
        return limbs

    @classmethod
    def read(cls, path: Path) -> Self:
        """The sum in a file, whose head is read and whose size is checked.

        Raises DamagedSumError where it is damaged, FathometerError where the system refuses to read it.
        """
        try:
            with path.open("rb") as file:
                entries = unsealed(file.readline(MAX_HEAD_BYTES).decode().removesuffix("\n"))
            x, y, z = entries["shape"]
            volumes = entries["volumes"]
            sum_file = cls(
                path,
                tuple(int(task) for task in entries["shots"]),
                tuple(str(input) for input in entries["inputs"]),
                (int(x), int(y), int(z)),
                {name: int(volume["top"]) for name, volume in volumes.items()},
                {name: int(volume["checksum"]) for name, volume in volumes.items()},
                int(entries["data"]),
            )
            if path.stat().st_size != sum_file.size or len(sum_file.inputs) != len(sum_file.tasks):
                raise ValueError
        except OSError as error:
            raise FathometerError(f"{path}: cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise DamagedSumError(f"{path}: is damaged; --resume does the tasks again that it held") from None
        return sum_file

    @classmethod
    def all_in(cls, folder: Path, but_damaged: bool = False) -> list[Self]:
        """The sums in a folder; but_damaged: damaged ones are left out, else DamagedSumError.

        One whose tasks are all in another was about to be removed when its run ended, and is removed now.
        """
        sums: list[Self] = []
        for path in folder.glob("*.sum"):
            try:
                sums.append(cls.read(path))
            except DamagedSumError:
                if not but_damaged:
                    raise
        largest_first = sorted(sums, key=lambda sum_file: -len(sum_file.tasks))
        kept: list[Self] = []
        for sum_file in largest_first:
            if any(set(sum_file.tasks) <= set(other.tasks) for other in kept):
                remove_file(sum_file.path)
            else:
                kept.append(sum_file)
        return kept
