"""How a node's results stand in its file: as blocks of zstd with directories (blocks.py), or as the published farm had
them, which is kept to be compared with."""

from __future__ import annotations

import errno
import os
import struct
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import zstandard

from fathometer.apps.farm import blocks
from fathometer.apps.farm.blocks import Index, directory, entries_of, hash_of, raw_frame, read_exactly

LENGTH = struct.Struct("<I")  # bytes of a block that follow
HEAD = struct.Struct("<QQQ")  # of a result in a block: task, bytes, hash


@dataclass(frozen=True)
class Compression:
    """kind: "zstd", "none" or "zlib". level: of it."""

    kind: str
    level: int

    def frame(self, data: bytes | bytearray) -> bytes:
        """Bytes as a frame of zstd."""
        if self.kind == "none":
            return raw_frame(data)
        return zstandard.ZstdCompressor(level=self.level, write_checksum=True).compress(data)


class Framing(Protocol):
    """The way in which blocks stand in a file."""

    def block(self, tasks: Sequence[int], results: Sequence[bytes | bytearray]) -> tuple[bytes, array[int]]:
        """A block of results, and what its directory says of them. May be called by several threads."""

    def placed(self, block: bytes, entries: array[int], flushed: int) -> bytes:
        """What is written of it; flushed: bytes of the file that are on the device."""

    def found(self, handle: int) -> tuple[list[tuple[int, array[int]]], int]:
        """The whole blocks of an open file, the place of each and what a directory says of its results, and where they
        end."""

    def require_torn(self, handle: int, end: int) -> None:
        """Raises OSError where what follows the whole blocks of a file is not what a run has left that was killed while
        it wrote: it would be lost."""

    def end(self, index: Index) -> list[bytes]:
        """What is written at the end."""


@dataclass(frozen=True)
class ZstdFraming:
    """Frames of zstd with directories, see blocks.py. farm: number of the farm whose results these are."""

    compression: Compression
    farm: int

    def block(self, tasks: Sequence[int], results: Sequence[bytes | bytearray]) -> tuple[bytes, array[int]]:
        """The frame, and the entries of its directory."""
        data = results[0] if len(results) == 1 else b"".join(results)
        return self.compression.frame(data), entries_of(tasks, results)

    def placed(self, block: bytes, entries: array[int], flushed: int) -> bytes:
        """With its directory."""
        return directory(entries, block, flushed, self.farm) + block

    def found(self, handle: int) -> tuple[list[tuple[int, array[int]]], int]:
        """By the directories. Raises OSError where they are of another farm."""
        whole = blocks.whole_blocks(handle)
        if any(block.farm != self.farm for block in whole):
            raise OSError(errno.EEXIST, "it holds results of another farm")
        return [(block.offset, block.entries) for block in whole], whole[-1].end if whole else 0

    def require_torn(self, handle: int, end: int) -> None:
        """It begins as a directory does, or as a file that a host has left empty; and what follows was not flushed: no
        block there says that the place of the damage was on the device when it was written."""
        head = os.pread(handle, len(blocks.BEGINS), end)
        if not any(own.startswith(head) for own in (blocks.BEGINS, blocks.INDEX_BEGINS)) and head.strip(b"\0"):
            raise OSError(errno.EILSEQ, f"no block of a farm begins at byte {end}, and nothing of it is removed")
        place = blocks.next_block(handle, end + 1)
        while place is not None:
            block = blocks.block_at(handle, place, os.fstat(handle).st_size)
            if block is not None and block.flushed > end:
                raise OSError(errno.EILSEQ, f"it is damaged at byte {end}, with results behind it that would be lost")
            place = blocks.next_block(handle, place + 1)

    def end(self, index: Index) -> list[bytes]:
        """The index."""
        return index.parts()


@dataclass(frozen=True)
class LengthFraming:
    """Blocks with their length before them; within, each result behind its task, length and hash."""

    compression: Compression

    def block(self, tasks: Sequence[int], results: Sequence[bytes | bytearray]) -> tuple[bytes, array[int]]:
        """Its compressed bytes."""
        parts = [
            HEAD.pack(task, len(result), hash_of(result)) + result for task, result in zip(tasks, results, strict=True)
        ]
        data = b"".join(parts)
        kind, level = self.compression.kind, self.compression.level
        if kind == "zlib":
            block = zlib.compress(data, level)
        else:
            block = data if kind == "none" else zstandard.ZstdCompressor(level=level).compress(data)
        return block, entries_of(tasks, results)

    def placed(self, block: bytes, entries: array[int], flushed: int) -> bytes:
        """With its length."""
        return LENGTH.pack(len(block)) + block

    def found(self, handle: int) -> tuple[list[tuple[int, array[int]]], int]:
        """By reading all."""
        rows, end = [], 0
        for offset, results, after in self.read(handle):
            rows.append((offset, entries_of(*zip(*results, strict=True))))
            end = after
        return rows, end

    def read(self, handle: int, offset: int = 0) -> Iterator[tuple[int, list[tuple[int, bytes]], int]]:
        """The place of each block from `offset` on, its tasks and results, and where it ends, up to the first that is
        not whole."""
        size = os.fstat(handle).st_size
        while offset + LENGTH.size <= size:
            (length,) = LENGTH.unpack(os.pread(handle, LENGTH.size, offset))
            data = read_exactly(handle, offset + LENGTH.size, length)
            results = self._results(data) if len(data) == length else None
            if results is None:
                return
            yield offset, results, offset + LENGTH.size + length
            offset += LENGTH.size + length

    def _results(self, block: bytes) -> list[tuple[int, bytes]] | None:
        """None: the block is not what was written."""
        kind = self.compression.kind
        try:
            if kind == "zlib":
                data = zlib.decompress(block)
            else:
                data = block if kind == "none" else zstandard.ZstdDecompressor().decompress(block)
        except (zlib.error, zstandard.ZstdError):
            return None
        found, place = [], 0
        while place < len(data):
            if place + HEAD.size > len(data):
                return None
            task, size, checksum = HEAD.unpack_from(data, place)
            result = data[place + HEAD.size : place + HEAD.size + size]
            if len(result) != size or hash_of(result) != checksum:
                return None
            found.append((task, result))
            place += HEAD.size + size
        return found or None

    def require_torn(self, handle: int, end: int) -> None:
        """It is one block of which the end is missing, or zeros."""
        rest = os.fstat(handle).st_size - end
        head = os.pread(handle, LENGTH.size, end)
        complete = len(head) == LENGTH.size and LENGTH.unpack(head)[0] <= rest - LENGTH.size
        if complete and read_exactly(handle, end, rest).strip(b"\0"):
            raise OSError(errno.EILSEQ, f"it is damaged at byte {end}, and what follows would be lost")

    def end(self, index: Index) -> list[bytes]:
        """Nothing."""
        return []


def framing_of(output: Mapping[str, Any], farm: int) -> Framing:
    """The way that keys of [output] ask for, of a farm of a number."""
    compression = Compression(output["compression"], output["level"])
    return ZstdFraming(compression, farm) if output["framing"] == "zstd" else LengthFraming(compression)
