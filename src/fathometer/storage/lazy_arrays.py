"""What arrays share that are read later, in this process or another: their files, as they were, and chunks of dask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from fathometer.base.errors import InputError
from fathometer.storage.reading import reading

CHUNK_VALUES = 1 << 24  # of a chunk of dask, at most


def chunks_of(shape: Sequence[int], most: int = CHUNK_VALUES) -> tuple[int, ...]:
    """Cells along each axis of a chunk of at most `most` cells, whole along the fastest axes.

    >>> chunks_of((1000, 1000, 1000)), chunks_of((8, 8))
    ((16, 1000, 1000), (8, 8))
    """
    chunk: list[int] = []
    for n in reversed(shape):
        chunk.insert(0, min(n, max(1, most)))
        most //= n
    return tuple(chunk)


@dataclass(frozen=True)
class OpenedFiles:
    """Files as they were when they were opened.

    Attributes:
        states: path, bytes and time of the last change (ns) of each.
    """

    states: tuple[tuple[str, int, int], ...]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Self:
        """The files as they are now."""
        return cls(tuple(_state(path) for path in paths))

    def require_unchanged(self) -> None:
        """Raises InputError where one is another now: sizes and places of its values may be others, too."""
        for state in self.states:
            if _state(Path(state[0])) != state:
                raise InputError(f"{state[0]}: has changed since it was opened; open it again")

    def __str__(self) -> str:
        return str(self.states)


def _state(path: Path) -> tuple[str, int, int]:
    with reading(path):
        status = path.stat()
    return str(path), status.st_size, status.st_mtime_ns
