"""Results taken out of a farm's files: one of them without reading the rest, or all as one document."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.apps.farm import blast_xml, blocks, journal
from fathometer.apps.farm.blocks import Block, DamagedError
from fathometer.apps.farm.framing import Compression, LengthFraming
from fathometer.apps.farm.sources import name_hash
from fathometer.base.errors import FathometerError, InputError

HELD = 64 << 20  # bytes of results that are kept, since blocks hold those of several tasks
MANY = 5  # tasks that a line names

Places = NDArray[np.int64]


class Results:
    """The results of a farm; a context manager. folder: of its output, or that with the files.

    Raises FathometerError where there are none.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / journal.FOLDER if (folder / journal.FOLDER).is_dir() else folder
        self.farm = journal.read_farm(self.folder)
        self.count = sum(group["count"] for group in self.farm["tasks"])
        self._old = self.farm["fingerprint"]["framing"] == "length"
        self._paths = journal.node_files(self.folder)
        self._stack = ExitStack()
        self._handles: list[int] = []

    def __enter__(self) -> Results:
        for path in self._paths:
            try:
                handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                self._stack.close()
                raise FathometerError(f"{path}: cannot be read: {error.strerror}") from None
            self._stack.callback(os.close, handle)
            self._handles.append(handle)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def of_task(self, task: int) -> bytes | None:
        """A task's result; None: there is none yet. Raises FathometerError where it is damaged."""
        for path, handle in zip(self._paths, self._handles, strict=True):
            if self._old:
                for _, results, _ in self._old_framing().read(handle):
                    for number, result in results:
                        if number == task:
                            return result
                continue
            try:
                block = blocks.find(handle, task)
            except DamagedError as error:
                raise FathometerError(f"{path}: is damaged at byte {error.place}") from None
            if block is not None:
                self._require_own(block, path)
                return dict(blocks.results_in(handle, block, path))[task]
        return None

    def _require_own(self, block: Block, path: Path) -> None:
        if block.farm != self.farm["number"]:
            raise FathometerError(f"{path}: holds results of another farm")

    def _old_framing(self) -> LengthFraming:
        return LengthFraming(Compression(self.farm["compression"], 0))

    def all(self, first: int, count: int, rows: Places) -> Iterator[tuple[int, bytes | None]]:
        """Results of consecutive tasks, in their order, by their `places`; None for one that is not there. Raises
        FathometerError where a block is damaged."""
        held: OrderedDict[tuple[int, int], dict[int, bytes]] = OrderedDict()
        size = 0
        at = int(np.searchsorted(rows[:, 0], first))
        for task in range(first, first + count):
            if at >= len(rows) or rows[at, 0] != task:
                yield task, None
                continue
            place = int(rows[at, 1]), int(rows[at, 2])
            while at < len(rows) and rows[at, 0] == task:
                at += 1
            if place not in held:
                held[place] = dict(self._block(*place))
                size += sum(map(len, held[place].values()))
            yield task, held[place][task]
            held.move_to_end(place)
            while size > HELD and len(held) > 1:
                _, old = held.popitem(last=False)
                size -= sum(map(len, old.values()))

    def places(self, partial: bool = False) -> Places:
        """Task, file and place of the block of each result, in order of the tasks. Raises FathometerError where a
        directory is damaged, unless `partial`."""
        rows: list[tuple[int, int, int]] = []
        for number, handle in enumerate(self._handles):
            if self._old:
                for offset, results, _ in self._old_framing().read(handle):
                    rows += [(task, number, offset) for task, _ in results]
            else:
                path = self._paths[number]
                try:
                    for block in blocks.all_blocks(handle, partial):
                        self._require_own(block, path)
                        rows += [(task, number, block.offset) for task in block.tasks]
                except DamagedError as error:
                    raise FathometerError(
                        f"{path}: is damaged at byte {error.place}; --partial takes what is there"
                    ) from None
        found = np.array(rows, np.int64).reshape(-1, 3)
        return found[np.argsort(found[:, 0], kind="stable")]

    def _block(self, number: int, offset: int) -> list[tuple[int, bytes]]:
        handle, path = self._handles[number], self._paths[number]
        if self._old:
            return next((results for _, results, _ in self._old_framing().read(handle, offset)), [])
        block = blocks.block_at(handle, offset, os.fstat(handle).st_size)
        if block is None:
            raise FathometerError(f"{path}: is damaged at byte {offset}")
        return blocks.results_in(handle, block, path)


def of_query(results: Results, name: str) -> bytes:
    """The result of the first sequence of a name: of XML of BLAST+ its own part, else that of its task.

    Raises InputError where no sequence has that name, FathometerError where its task has no result.
    """
    tasks = journal.tasks_with(results.folder, name_hash(name.encode(errors="surrogateescape")))
    missing = []
    for task in tasks:
        result = results.of_task(task)
        if result is None:
            missing.append(task)
            continue
        if not blast_xml.is_document(result):
            return result
        found = blast_xml.of_query(result, name.encode(errors="surrogateescape"))
        if found is not None:
            return found
    if missing:
        raise FathometerError(f"{results.folder}: task {missing[0]}, of the sequence {name}, has no result")
    raise InputError(f'--query: found "{name}"; allowed: the first word after the > of a sequence of the farm')


def merged(results: Results, group: Mapping[str, Any], partial: bool) -> Iterator[bytes]:
    """All results of a group of tasks, in their order: of XML of BLAST+ one document, else one after another.

    Raises FathometerError where some are missing, unless `partial`.
    """
    first, count = group["first"], group["count"]
    rows = results.places(partial)
    if not partial:
        there = np.unique(rows[(rows[:, 0] >= first) & (rows[:, 0] < first + count), 0])
        if len(there) < count:
            lost = np.setdiff1d(np.arange(first, first + count), there)
            shown = ", ".join(map(str, lost[:MANY].tolist())) + ", …" * (len(lost) > MANY)
            raise FathometerError(
                f"{results.folder}: {len(lost)} of {count} tasks have no result: {shown}; --partial takes what is there"
            )
    found = (result for _, result in results.all(first, count, rows) if result is not None)
    head = next(found, b"")

    def every() -> Iterator[bytes]:
        yield head
        yield from found

    if not blast_xml.is_document(head):
        yield from every()
        return
    try:
        yield from blast_xml.merged(every())
    except ValueError as error:
        raise FathometerError(f"{results.folder}: a result is no document of BLAST+: {error}") from None
