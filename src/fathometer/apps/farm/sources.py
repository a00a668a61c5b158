"""Tasks of each kind: how many there are, where each stands in its file, what it must wait for. On rank 0."""

from __future__ import annotations

import codecs
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from fathometer.apps.farm.farm_file import (
    MOST_TASKS,
    BuiltInTasks,
    FarmFile,
    FastaTasks,
    GridTasks,
    LineTasks,
    TasksTable,
)
from fathometer.apps.farm.forms import names_in
from fathometer.base.errors import InputError
from fathometer.storage.reading import reading

CHUNK = 1 << 26  # bytes of a file that are looked at together
GZIP = b"\x1f\x8b"
Places = NDArray[np.int64]
QueriesOf = Callable[[FastaTasks, Places, Places], int]  # sequences of a task, from where they all begin and end


@dataclass
class Group:
    """The tasks of one table of the input, made ready.

    Attributes:
        table: its keys. first: number of its first task, from 1. count: of its tasks.
        begins, ends: places of each task in the file, bytes; empty where there is none.
        priorities: of each; empty: all that of the table. before: numbers of the tasks that each waits for, by its own.
        queries: sequences of a task, of FASTA; sequences: in all. names: hashes of the first words of their heads, by
            the task that has them: rows of hash and number.
    """

    table: TasksTable
    first: int
    count: int
    begins: Places = field(default_factory=lambda: np.zeros(0, np.int64))
    ends: Places = field(default_factory=lambda: np.zeros(0, np.int64))
    priorities: Places = field(default_factory=lambda: np.zeros(0, np.int64))
    before: Mapping[int, list[int]] = field(default_factory=dict)
    queries: int = 0
    sequences: int = 0
    names: NDArray[np.uint64] = field(default_factory=lambda: np.zeros((0, 2), np.uint64))


def groups_of(input: FarmFile, queries_of: QueriesOf) -> list[Group]:
    """All tasks of an input. queries_of: says how many sequences a task is to have, where the input does not.

    Raises InputError for files that are not what they are to be.
    """
    groups: list[Group] = []
    first = 1
    for number, table in enumerate(input.tasks, 1):
        group = _group(input, table, first, queries_of, f"{input.path}: [[tasks]] {number}")
        groups.append(group)
        first += group.count
        if first > MOST_TASKS + 1:
            raise InputError(f"{input.path}: [[tasks]]: found {first - 1} tasks or more; allowed: {MOST_TASKS}")
    return groups


def _group(
    input: FarmFile,
    table: TasksTable,
    first: int,
    queries_of: QueriesOf,
    where: str,
) -> Group:
    if isinstance(table, FastaTasks):
        return _fasta(table, first, input.place(table.file), queries_of)
    if isinstance(table, LineTasks):
        return _lines(table, first, input.place(table.file), where)
    if isinstance(table, GridTasks):
        return Group(table, first, math.prod(map(len, table.values.values())))
    assert isinstance(table, BuiltInTasks), "there is no other kind"
    return Group(table, first, table.count)


def _fasta(table: FastaTasks, first: int, path: Path, queries_of: QueriesOf) -> Group:
    begins = _fasta_begins(path)
    size = path.stat().st_size
    ends = np.append(begins[1:], size)
    queries = table.queries or queries_of(table, begins, ends)
    starts = begins[::queries]
    names = [(name_hash(name), first + n // queries) for n, name in enumerate(_fasta_names(path, begins, ends))]
    return Group(
        table,
        first,
        len(starts),
        starts,
        np.append(starts[1:], size),
        queries=queries,
        sequences=len(begins),
        names=np.array(names, np.uint64).reshape(-1, 2),
    )


def _fasta_begins(path: Path) -> Places:
    """Where the sequences of a FASTA file begin, bytes. Raises InputError where it is none."""
    found, offset, before = [], 0, 10  # as if a line had ended
    with reading(path), path.open("rb") as file:
        while chunk := file.read(CHUNK):
            if not offset and chunk.startswith(GZIP):
                raise InputError(f"{path}: is compressed by gzip; needed: plain FASTA, of which tasks read parts")
            values = np.frombuffer(chunk, np.uint8)
            marks = np.flatnonzero(values == ord(">"))
            line_before = np.where(marks > 0, values[marks - 1], before)
            found.append(marks[(line_before == 10) | (line_before == 13)] + offset)
            offset, before = offset + len(chunk), values[-1]
    begins = np.concatenate(found) if found else np.zeros(0, np.int64)
    with reading(path), path.open("rb") as file:
        lead = file.read(int(begins[0]) if len(begins) else 200)
    if not len(begins) or lead.strip():
        shown = lead.strip()[:40].decode(errors="backslashreplace")
        raise InputError(
            f'{path}: is no FASTA: found "{shown}"; needed: sequences, each after a line that begins with >'
        )
    return begins.astype(np.int64)


def _fasta_names(path: Path, begins: Places, ends: Places) -> Iterator[bytes]:
    with reading(path), path.open("rb", buffering=CHUNK) as file:
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            file.seek(begin)
            words = file.readline(min(end - begin, CHUNK))[1:].split(None, 1)
            yield words[0] if words else b""


def name_hash(name: bytes) -> int:
    """By which the task of a sequence is found."""
    return xxhash.xxh3_64_intdigest(name)


def _lines(table: LineTasks, first: int, path: Path, where: str) -> Group:
    begins, ends, numbers = _line_places(path)
    if not len(begins):
        raise InputError(f"{path}: holds no line that is a task; needed: one at least")
    group = Group(table, first, len(begins), begins, ends)
    most = max((int(name) for name in names_in(table.words) if name.isdecimal()), default=0)
    most = max(most, table.priority_field or 0, table.after_field or 0)
    if most:
        _read_fields(group, table, path, numbers, most)
    return group


def _line_places(path: Path) -> tuple[Places, Places, Places]:
    """Begin, end and number, from 1, of each line of a text that is a task."""
    begins, ends, offset = [np.zeros(1, np.int64)], [], 0
    decoder = codecs.getincrementaldecoder("utf-8")()
    with reading(path), path.open("rb") as file:
        while chunk := file.read(CHUNK):
            try:
                text = decoder.decode(chunk)
            except UnicodeDecodeError:
                raise InputError(f"{path}: is no text in UTF-8 (after byte {offset}); needed: a task a line") from None
            if "\0" in text:
                raise InputError(f"{path}: holds a zero byte; needed: text, a task a line")
            marks = np.flatnonzero(np.frombuffer(chunk, np.uint8) == 10) + offset
            begins.append(marks + 1)
            ends.append(marks)
            offset += len(chunk)
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise InputError(f"{path}: is no text in UTF-8: its last letter is cut; needed: a task a line") from None
    ends.append(np.array([offset], np.int64))
    starts, stops = np.concatenate(begins), np.concatenate(ends)
    with reading(path), path.open("rb") as file:
        if file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8:
            starts[0] = len(codecs.BOM_UTF8)
        file.seek(0)
        data = file.read() if offset <= CHUNK else None
        kept = np.array(
            [
                _is_task(data[a:b] if data is not None else _part(file, a, b))
                for a, b in zip(starts.tolist(), stops.tolist(), strict=True)
            ],
            bool,
        )
    return starts[kept], stops[kept], np.flatnonzero(kept) + 1


def _part(file: Any, begin: int, end: int) -> bytes:
    file.seek(begin)
    part: bytes = file.read(end - begin)
    return part


def _is_task(line: bytes) -> bool:
    return not line.startswith(b"#") and bool(line.strip())


def _read_fields(group: Group, table: LineTasks, path: Path, numbers: Places, most: int) -> None:
    """Priorities and orders in the lines. Raises InputError where a line has fewer fields than are named."""
    of_line = {number: group.first + n for n, number in enumerate(numbers.tolist())}
    priorities, before = np.zeros(group.count, np.int64), {}
    with reading(path), path.open("rb") as file:
        for n, (number, begin, end) in enumerate(
            zip(numbers.tolist(), group.begins.tolist(), group.ends.tolist(), strict=True)
        ):
            fields = line_of(_part(file, begin, end)).split("\t")
            if len(fields) < most:
                raise InputError(
                    f"{path}: line {number}: found {len(fields)} fields; needed: {most}, with tabs between"
                )
            if table.priority_field is not None:
                priorities[n] = _integer(fields[table.priority_field - 1], f"{path}: line {number}: priority")
            if table.after_field is not None:
                words = [word for word in fields[table.after_field - 1].split(",") if word.strip()]
                wanted = [_integer(word, f"{path}: line {number}: tasks before") for word in words]
                for other in wanted:
                    if other not in of_line or other == number:
                        raise InputError(
                            f"{path}: line {number}: found {other} as a task before; allowed: other lines with a task"
                        )
                if wanted:
                    before[group.first + n] = [of_line[other] for other in wanted]
    if table.priority_field is not None:
        group.priorities = priorities
    _require_order(before, path, {task: line for line, task in of_line.items()})
    group.before = before


def _integer(word: str, where: str) -> int:
    try:
        value = int(word)
    except ValueError:
        raise InputError(f'{where}: found "{word[:40]}"; needed: an integer') from None
    if abs(value) > 10**9:
        raise InputError(f"{where}: found {value}; allowed: -1000000000 to 1000000000")
    return value


def _require_order(before: Mapping[int, Sequence[int]], path: Path, lines: Mapping[int, int]) -> None:
    """Raises InputError where tasks wait for each other."""
    waits = {task: sum(other in before for other in others) for task, others in before.items()}
    after: dict[int, list[int]] = {}
    for task, others in before.items():
        for other in others:
            if other in before:
                after.setdefault(other, []).append(task)
    ready = [task for task, count in waits.items() if not count]
    while ready:
        task = ready.pop()
        del waits[task]
        for other in after.get(task, ()):
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    if waits:
        raise InputError(f"{path}: line {lines[min(waits)]}: waits for tasks that wait for it; needed: an order")


def line_of(data: bytes) -> str:
    """A line of a file without its end."""
    return data.decode().rstrip("\r\n")
