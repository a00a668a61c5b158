"""The file of a node's results: blocks of zstd that any reader of zstd takes, each behind a directory.

skippable frame (DIRECTORY):  "farm", version, which farm, number of results, bytes and XXH3-64 of the block that
                              follows, and up to which byte of the file all was flushed when this was written; for each
                              result the number of its task, its bytes and their XXH3-64; an XXH3-64 of all this
frame of zstd:                the results, one after the other
...
skippable frame (INDEX):      at the end of a file that was closed: for each result, in order of the tasks, the number,
                              the block, the place in the block, the bytes; then how many, an XXH3-64, and a mark

All numbers are little-endian and of 64 bits, if nothing else is said. The directories alone tell which tasks are done:
the index only finds one sooner. Skippable frames: Collet and Kucherawy, RFC 8878 (2021), section 3.1.2.
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import xxhash
import zstandard

from fathometer.base.errors import FathometerError

DIRECTORY, INDEX = 0x184D2A5E, 0x184D2A5F  # magic numbers of the skippable frames
VERSION = 1
# Of a directory: magic, bytes that follow, "farm", version, farm, results, the block's bytes and hash, flushed.
HEAD = struct.Struct("<II4sIQQQQQ")
BEGINS, INDEX_BEGINS = struct.pack("<I", DIRECTORY), struct.pack("<I", INDEX)  # a file, its last part
ENTRY = 3  # numbers of a result: task, bytes, hash
TAIL = struct.Struct("<Q")
INDEX_ENTRY = 4  # task, offset of the block's directory, offset in the block, bytes
INDEX_TAIL = struct.Struct("<QQ8s")  # results, hash, mark
INDEX_MARK = b"farm-end"
FRAME = 0xFD2FB528  # magic number of a frame of zstd
RAW_BLOCK = 128 << 10  # largest block of a frame that holds bytes as they are
RAW_WINDOW = 0x38  # of such a frame: 128 KiB (RFC 8878, section 3.1.1.1.2)
MOST_IN_BLOCK = 1 << 20  # results


def hash_of(data: bytes | bytearray | memoryview) -> int:
    """XXH3-64."""
    return xxhash.xxh3_64_intdigest(data)


def numbers_bytes(values: array[int]) -> bytes:
    """64-bit numbers as they stand in files."""
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values.tobytes()


def numbers_of(data: bytes) -> array[int]:
    """The inverse of `numbers_bytes`."""
    values = array("Q")
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def raw_frame(data: bytes | bytearray) -> bytes:
    """A frame of zstd that holds the bytes as they are, with their number and a checksum."""
    parts: list[bytes | bytearray] = [struct.pack("<IBBQ", FRAME, 0xC4, RAW_WINDOW, len(data))]
    for begin in range(0, max(len(data), 1), RAW_BLOCK):
        part = data[begin : begin + RAW_BLOCK]
        last = begin + RAW_BLOCK >= len(data)
        parts += [(last | len(part) << 3).to_bytes(3, "little"), part]
    parts.append((xxhash.xxh64_intdigest(data) & 0xFFFFFFFF).to_bytes(4, "little"))
    return b"".join(parts)


def entries_of(tasks: Sequence[int], results: Sequence[bytes | bytearray]) -> array[int]:
    """What a directory says of each result of a block: task, bytes and hash, one after another."""
    numbers = array("Q")
    for task, result in zip(tasks, results, strict=True):
        numbers.extend((task, len(result), hash_of(result)))
    return numbers


def directory(entries: array[int], block: bytes, flushed: int, farm: int) -> bytes:
    """The skippable frame before a block. entries: of its results. flushed: bytes of the file on the device. farm: the
    number of that farm."""
    text = numbers_bytes(entries)
    size = HEAD.size - 8 + len(text) + TAIL.size
    count = len(entries) // ENTRY
    head = HEAD.pack(DIRECTORY, size, b"farm", VERSION, farm, count, len(block), hash_of(block), flushed)
    return head + text + TAIL.pack(hash_of(head + text))


@dataclass(frozen=True)
class Block:
    """A block of a file.

    Attributes:
        farm: number of that which has written it. offset: of its directory. begin, size: of its frame, bytes. hash: of
            the frame. flushed: bytes of the file that were on the device before it was written. entries: task, bytes
            and hash of each result, one after another.
    """

    farm: int
    offset: int
    begin: int
    size: int
    hash: int
    flushed: int
    entries: array[int]

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.begin + self.size

    @property
    def tasks(self) -> array[int]:
        """The numbers of its tasks."""
        return self.entries[::ENTRY]


def block_at(handle: int, offset: int, size: int) -> Block | None:
    """The block whose directory begins at a place in an open file of a size; None where there is no whole one."""
    head = os.pread(handle, HEAD.size, offset)
    if len(head) < HEAD.size:
        return None
    magic, follow, word, version, farm, count, length, checksum, flushed = HEAD.unpack(head)
    whole = HEAD.size - 8 + count * ENTRY * 8 + TAIL.size
    if (magic, word, version) != (DIRECTORY, b"farm", VERSION) or count > MOST_IN_BLOCK or follow != whole:
        return None
    begin = offset + 8 + follow
    if begin + length > size:
        return None
    rest = os.pread(handle, follow + 8 - HEAD.size, offset + HEAD.size)
    entries, tail = rest[: -TAIL.size], rest[-TAIL.size :]
    if len(rest) != follow + 8 - HEAD.size or TAIL.unpack(tail)[0] != hash_of(head + entries):
        return None
    return Block(farm, offset, begin, length, checksum, flushed, numbers_of(entries))


def blocks(handle: int, offset: int = 0) -> Iterator[Block]:
    """The blocks of an open file from a place on, up to the first place where none begins."""
    size = os.fstat(handle).st_size
    while (block := block_at(handle, offset, size)) is not None:
        yield block
        offset = block.end


class DamagedError(Exception):
    """A file is not what was written. place: where, bytes."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def all_blocks(handle: int, partial: bool = False) -> Iterator[Block]:
    """The blocks of an open file, of one that a run is still writing too. Raises DamagedError where blocks follow one
    that is damaged, unless `partial`: these then come too."""
    place: int | None = 0
    while place is not None:
        size, end = os.fstat(handle).st_size, place
        for block in blocks(handle, place):
            yield block
            end = block.end
        place = None if end == (index_begin(handle) or size) else next_block(handle, end + 1)
        if place is not None and not partial:
            raise DamagedError(end)


def next_block(handle: int, offset: int) -> int | None:
    """Where the next whole block of an open file begins, at `offset` or later, whatever stands there; None: nowhere."""
    size = os.fstat(handle).st_size
    while offset < size:
        part = os.pread(handle, 1 << 24, offset)
        place = part.find(BEGINS)
        while place >= 0:
            if block_at(handle, offset + place, size) is not None:
                return offset + place
            place = part.find(BEGINS, place + 1)
        offset += max(1, len(part) - len(BEGINS) + 1)
    return None


def whole_blocks(handle: int) -> list[Block]:
    """The blocks of an open file that are whole: those behind what was flushed when the last one was written are read,
    since a host that stops may leave a file with its length and without its bytes."""
    found = list(blocks(handle))
    flushed = found[-1].flushed if found else 0
    for number, block in enumerate(found):
        if block.end > flushed and hash_of(read_exactly(handle, block.begin, block.size)) != block.hash:
            return found[:number]
    return found


def read_exactly(handle: int, offset: int, size: int) -> bytes:
    """Bytes of an open file; fewer at its end."""
    parts = []
    while size and (part := os.pread(handle, min(size, 1 << 30), offset)):
        parts.append(part)
        offset, size = offset + len(part), size - len(part)
    return b"".join(parts)


class Index:
    """What is known of the results of a file, to be written at its end."""

    def __init__(self) -> None:
        self._numbers = array("Q")

    def add(self, offset: int, entries: array[int]) -> None:
        """Of the block whose directory begins at `offset`, the entries of its directory."""
        place = 0
        for task, size in zip(entries[::ENTRY], entries[1::ENTRY], strict=True):
            self._numbers.extend((task, offset, place, size))
            place += size

    def parts(self) -> list[bytes]:
        """The skippable frame, in parts; none where it has no place in one, which holds 4 GiB at most."""
        import numpy as np

        rows = np.frombuffer(self._numbers, np.uint64).reshape(-1, INDEX_ENTRY)
        data = rows[np.argsort(rows[:, 0], kind="stable")].astype("<u8", copy=False).tobytes()
        size = len(data) + INDEX_TAIL.size
        if size >= 1 << 32:
            return []
        return [struct.pack("<II", INDEX, size), data, INDEX_TAIL.pack(len(rows), hash_of(data), INDEX_MARK)]


def index_begin(handle: int) -> int | None:
    """Where the index of an open file begins that was closed; None without one."""
    size = os.fstat(handle).st_size
    if size < 8 + INDEX_TAIL.size:
        return None
    count, _, mark = INDEX_TAIL.unpack(os.pread(handle, INDEX_TAIL.size, size - INDEX_TAIL.size))
    begin = size - INDEX_TAIL.size - count * INDEX_ENTRY * 8 - 8
    if mark != INDEX_MARK or begin < 0:
        return None
    head = struct.pack("<II", INDEX, size - begin - 8)
    return begin if os.pread(handle, 8, begin) == head else None


def find(handle: int, task: int) -> Block | None:
    """The block that holds a task's result, by the index where there is one, else by the directories; None: none.

    Raises DamagedError where the index leads to no such block, or where directories are damaged before one."""
    begin = index_begin(handle)
    if begin is None:
        return next((block for block in all_blocks(handle) if task in block.tasks), None)
    size = os.fstat(handle).st_size
    row = struct.Struct("<QQQQ")
    low, high = 0, (size - INDEX_TAIL.size - begin - 8) // row.size
    while low < high:
        middle = (low + high) // 2
        number, offset, _, _ = row.unpack(os.pread(handle, row.size, begin + 8 + middle * row.size))
        if number == task:
            block = block_at(handle, offset, begin) if offset < begin else None
            if block is None or task not in block.tasks:
                raise DamagedError(offset)
            return block
        low, high = (middle + 1, high) if number < task else (low, middle)
    return None


def results_in(handle: int, block: Block, path: Path) -> list[tuple[int, bytes]]:
    """Tasks and results of a block. Raises FathometerError where they are not what was written."""
    data = read_exactly(handle, block.begin, block.size)
    if hash_of(data) != block.hash:
        raise FathometerError(f"{path}: is damaged at byte {block.begin}")
    try:
        plain = zstandard.ZstdDecompressor().decompress(data, max_output_size=sum(block.entries[1::ENTRY]))
    except zstandard.ZstdError as error:
        raise FathometerError(f"{path}: is damaged at byte {block.begin}: {error}") from None
    found, place = [], 0
    for task, size, checksum in zip(*(block.entries[n::ENTRY] for n in range(ENTRY)), strict=True):
        result = plain[place : place + size]
        if len(result) != size or hash_of(result) != checksum:
            raise FathometerError(f"{path}: the result of task {task}, at byte {block.begin}, is not what was written")
        found.append((task, result))
        place += size
    return found
