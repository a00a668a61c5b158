"""Identity of files: a hash of all their bytes, and what shows without reading them that nobody has touched them since.

A file is hashed in pieces of PIECE bytes, so that threads and ranks can share it (hashing.py). A file whose size, inode
and times are those of an earlier look has the hash of then, unless its times lie so near to that look that a change
after it could bear the same ones: clocks of file systems go in steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import xxhash

from fathometer.base.errors import FathometerError
from fathometer.storage.reading import readable, reading

PIECE = 1 << 26  # bytes that are hashed as one
BUFFER = 1 << 20  # bytes read at a time; they stay in the cache until they are hashed
GRANULARITY_NS = 2_000_000_000  # the coarsest step of a file system's clock (FAT's)
HASH = "XXH3-128"
MISSING = -1  # bytes of a file that is not there


def parts_of(path: Path) -> list[Path]:
    """Paths of a volume that this program writes, existing or not: its folder or file, and an RSF's values."""
    return [path, path.with_name(path.name + "@")] if path.suffix == ".rsf" else [path]


def lasting(path: Path) -> Path:
    """The path of a file from any working directory; its folder by its own name, without links."""
    return Path(os.path.realpath(path.parent), path.name)


def hash_of(*data: bytes | memoryview) -> str:
    """XXH3-128 of some bytes, one after the other: 32 hexadecimal digits."""
    return hash_of_all(data)


def hash_of_all(data: Iterable[bytes | memoryview]) -> str:
    """The same of bytes that need not be in memory at a time."""
    hasher = xxhash.xxh3_128()
    for part in data:
        hasher.update(part)
    return hasher.hexdigest()


@dataclass(frozen=True)
class FileState:
    """A file at a moment: what the system tells of it without reading it, and the hash of its bytes where it is known.

    Attributes:
        path: as it was found. bytes: its size, MISSING where there is no file. inode, modified_ns, changed_ns: of the
            file, ns since 1970. seen_ns: the moment, on this host's clock. hash: of all bytes; "": not known.
    """

    path: str
    bytes: int
    inode: int
    modified_ns: int
    changed_ns: int
    seen_ns: int
    hash: str = ""

    @classmethod
    def of(cls, path: Path, required: bool = True) -> Self:
        """The file as it is now. InputError where it cannot be read; required: also where it is missing.

        The times are the file system's: where they come from a server whose clock is more than GRANULARITY_NS behind
        this host's, a change right after the look may go unnoticed.
        """
        seen = int(datetime.now(UTC).timestamp() * 1e9)  # before the look: what is changed later has a later time
        if not required and not path.exists():
            return cls(str(path), MISSING, 0, 0, 0, seen, hash_of())
        with reading(readable(path, empty=True)):
            status = path.stat()
        return cls(str(path), status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns, seen)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `as_dict`. KeyError, TypeError or ValueError for anything else."""
        numbers = {name: int(values[name]) for name in ("bytes", "inode", "modified_ns", "changed_ns", "seen_ns")}
        return cls(path=str(values["path"]), hash=str(values["hash"]), **numbers)

    def as_dict(self) -> dict[str, Any]:
        """The same, JSON-ready."""
        return asdict(self)

    def same_as(self, other: FileState) -> bool:
        """Whether both looks found the same size, inode and times."""
        names = ("bytes", "inode", "modified_ns", "changed_ns")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def untouched_since(self, earlier: FileState) -> bool:
        """Whether the file cannot have changed since an earlier look."""
        settled = max(earlier.modified_ns, earlier.changed_ns) + GRANULARITY_NS <= earlier.seen_ns
        return settled and self.same_as(earlier)

    @property
    def words(self) -> str:
        """Size and hash, for comparison and messages."""
        return "no file" if self.bytes == MISSING else f"{self.bytes} bytes, {HASH} {self.hash}"


def pieces_of(state: FileState) -> range:
    """Offsets of a file's pieces; none of an empty or a missing one."""
    return range(0, max(0, state.bytes), PIECE)


def hash_piece(state: FileState, offset: int, stopped: Callable[[], bool] = lambda: False) -> bytes:
    """XXH3-128 of the piece at `offset`; of less where `stopped` says that nobody waits for it any more.

    InputError where it cannot be read, FathometerError where it ends early.
    """
    path, left = Path(state.path), min(PIECE, state.bytes - offset)
    hasher, buffer = xxhash.xxh3_128(), bytearray(min(BUFFER, left))
    with reading(path):
        handle = os.open(path, os.O_RDONLY)
        try:
            while left and not stopped():
                part = memoryview(buffer)[: min(left, len(buffer))]
                count = os.preadv(handle, [part], offset)
                if not count:
                    raise changed_meanwhile(path)
                hasher.update(part[:count])
                offset, left = offset + count, left - count
        finally:
            os.close(handle)
    return hasher.digest()


def of_pieces(hashes: Sequence[bytes]) -> str:
    """The hash of a file from those of its pieces, in their order."""
    return hash_of(*hashes)


def changed_meanwhile(path: Path) -> FathometerError:
    """The error of an input that is written to while a run reads it."""
    return FathometerError(f"{path}: has changed while it was read; needed: inputs that stay as they are")
