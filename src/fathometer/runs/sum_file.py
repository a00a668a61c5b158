"""Files of exact sums of partial images: RUN-N.sum in the journal.

text, JSON: shots, shape, for each volume its top and checksum; blanks up to `data`
int64, for each volume: limbs (2, nx, ny, nz), as exact.py has them
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from fathometer.base.errors import FathometerError
from fathometer.parallel.decomposition import Index3
from fathometer.runs.exact_sum import LIMBS, Limbs
from fathometer.storage import atomic

SLAB_CELLS = 1 << 20  # of a volume that are added up at a time
PAGE = 4096
LONGEST = 1 << 28  # bytes of the text
ITEM = 8
CELL = LIMBS * ITEM  # bytes
FULL = 2.0  # contributions are added up when they take so many times the bytes of their sum


def most_waiting(cells: int) -> float:
    """Bytes of contributions to one volume of so many cells that a group leaves in no sum."""
    return FULL * CELL * cells


def on_disk(cells: int, contribution: float, tasks: int) -> tuple[float, float]:
    """Bytes of the contributions of a group's tasks, of so many bytes each, to one volume of so many cells, and of
    their sums: at most, which is while they are added up and the sum before and the new one are there too; at the end
    of all tasks."""
    together = math.ceil(most_waiting(cells) / contribution)
    sums, loose = divmod(tasks, together)
    most = min(tasks, together) * contribution + min(sums, 2) * CELL * cells
    return most, loose * contribution + min(sums, 1) * CELL * cells


class Damaged(FathometerError):
    """A sum that is none, or not whole."""


@dataclass(frozen=True)
class SumFile:
    """A sum on disk, whole.

    Attributes:
        shots: whose contributions it holds. shape: of each volume. tops, checksums: of each volume, by name.
    """

    path: Path
    tasks: tuple[int, ...]
    shape: Index3
    tops: Mapping[str, int]
    checksums: Mapping[str, int]
    data: int

    @classmethod
    def planned(cls, path: Path, tasks: Sequence[int], shape: Index3, tops: Mapping[str, int]) -> Self:
        """One to be written: its checksums are not known yet."""
        draft = cls(path, tuple(tasks), shape, tops, dict.fromkeys(tops, (1 << 64) - 1), 1 << 62)
        return cls(path, tuple(tasks), shape, tops, {}, -(-len(draft._text()) // PAGE) * PAGE)

    def _text(self) -> bytes:
        told = {
            "shots": self.tasks,
            "shape": self.shape,
            "data": self.data,
            "volumes": {name: {"top": top, "checksum": self.checksums[name]} for name, top in self.tops.items()},
        }
        return json.dumps(told).encode() + b"\n"

    @property
    def head(self) -> bytes:
        """What stands before the numbers."""
        return self._text().ljust(self.data)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.data + len(self.tops) * LIMBS * self._limb

    @property
    def _limb(self) -> int:
        return ITEM * self.shape[0] * self._plane

    @property
    def _plane(self) -> int:
        return self.shape[1] * self.shape[2]

    def places(self, volume: str, first: int) -> list[int]:
        """Where plane `first` (along x) of each limb of a volume begins."""
        start = self.data + list(self.tops).index(volume) * LIMBS * self._limb
        return [start + n * self._limb + ITEM * first * self._plane for n in range(LIMBS)]

    def limbs(self, volume: str, first: int, end: int) -> Limbs:
        """Of the planes first to end, int64 (2, end - first, ny, nz). FathometerError where they cannot be read."""
        found = np.empty((LIMBS, end - first, *self.shape[1:]), np.int64)
        try:
            handle = os.open(self.path, os.O_RDONLY)
            try:
                for limb, place in zip(found, self.places(volume, first), strict=True):
                    if atomic.read_at(handle, atomic.octets(limb), place) < limb.nbytes:
                        raise FathometerError(f"{self.path}: ends too early")
            finally:
                os.close(handle)
        except OSError as error:
            raise FathometerError(f"{self.path}: cannot be read: {error.strerror}") from None
        return found

    @classmethod
    def read(cls, path: Path) -> Self:
        """What the head of a file tells. Damaged where it is none, or not whole; FathometerError where the system
        refuses."""
        try:
            with path.open("rb") as file:
                told: dict[str, Any] = json.loads(file.readline(LONGEST))
            x, y, z = told["shape"]
            volumes = told["volumes"]
            found = cls(
                path,
                tuple(int(task) for task in told["shots"]),
                (int(x), int(y), int(z)),
                {name: int(volume["top"]) for name, volume in volumes.items()},
                {name: int(volume["checksum"]) for name, volume in volumes.items()},
                int(told["data"]),
            )
            if path.stat().st_size != found.size:
                raise ValueError
        except OSError as error:
            raise FathometerError(f"{path}: cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise Damaged(f"{path}: is damaged; --resume does the tasks again that it held") from None
        return found

    @classmethod
    def all_in(cls, folder: Path) -> list[Self]:
        """The sums in a folder; one whose tasks another holds too was about to be removed when its run ended, and is
        removed now."""
        found = sorted((cls.read(path) for path in folder.glob("*.sum")), key=lambda sum_file: -len(sum_file.tasks))
        kept: list[Self] = []
        for sum_file in found:
            if any(set(sum_file.tasks) <= set(other.tasks) for other in kept):
                atomic.remove(sum_file.path)
            else:
                kept.append(sum_file)
        return kept
