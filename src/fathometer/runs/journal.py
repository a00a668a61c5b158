"""The journal of a resumable run, on disk: whatever ends a run, finished tasks are not lost.

OUTPUT/journal/
    survey.json          fingerprint of what is computed, written once
    RUN-GROUP.jsonl      a line a task, finished or set aside; a file for each run and group of ranks
    NNNNNN-VOLUME.npy    contribution of the task to a volume of the results; there before its line is
    NAME.sum             contributions added up (contributions.py); it replaces them
    NNNNNN.claim         the task was taken by a group of this run, or of several that share the tasks (claims.py)
    finished             the results are written
    lock                 held by the run; the system releases it with the process

A task is done when its line is there, and its contribution or a sum that holds it. Where the host itself went down,
lines may have reached the disk without the contributions they stand for: those behind the last line that marks a flush
are compared with their checksums when the run is resumed. On disk the number of a task has the key "shot".
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import sleep
from typing import Any, Self

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.parallel.decomposition import Index3
from fathometer.record.envelope import plain
from fathometer.runs.claims import Claims
from fathometer.runs.options import RunKind
from fathometer.runs.sum_file import SumFile
from fathometer.storage import atomic

FOLDER = "journal"
TASK_KEY = "shot"  # of the number of a task in a line
MOST_READS = 20  # of a journal that others are writing, until its files agree
NAP_SECONDS = 0.2  # between them


@dataclass(frozen=True)
class VolumePart:
    """Contribution of a task to one volume: largest magnitude, and the checksum of its cells (checksum.py)."""

    peak: float
    checksum: int


@dataclass(frozen=True)
class Contribution:
    """Contribution of a finished task to the volumes of the results.

    Attributes:
        task: its number. lo, hi: the window of the whole volumes' cells that it adds to (half-open).
        parts: what it adds to each volume. seconds, ranks: that it took.
    """

    task: int
    lo: Index3
    hi: Index3
    parts: Mapping[str, VolumePart]
    seconds: float
    ranks: int

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Self:
        """From a line of the journal. Raises KeyError, TypeError, ValueError where it is none."""
        parts = {name: VolumePart(float(part["peak"]), int(part["checksum"])) for name, part in line["parts"].items()}
        lo, hi = ((int(a), int(b), int(c)) for a, b, c in (line["lo"], line["hi"]))
        return cls(int(line[TASK_KEY]), lo, hi, parts, float(line["seconds"]), int(line["ranks"]))

    def line(self) -> dict[str, Any]:
        """The same for a line of the journal."""
        values = asdict(self)
        return {TASK_KEY: values.pop("task")} | values


@dataclass
class Journal:
    """The state of a run as its folder told it when it was opened; afterwards each group knows its own tasks.

    Attributes:
        done: finished tasks by number. failed: reasons of those set aside. sums: of the contributions of done tasks.
        finished: the results are written. run: name of this run. unflushed: done tasks whose contributions may not have
            reached the device. repaired: fingerprints of inputs that some done tasks are of, and which were replaced
            since. claims: of a run that shares the tasks. others_at_work: earlier contributions are theirs to add up,
            or the last one's. kind: the words of the application.
    """

    folder: Path
    done: dict[int, Contribution] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    sums: list[SumFile] = field(default_factory=list)
    finished: bool = False
    run: str = ""
    repaired: list[str] = field(default_factory=list)
    unflushed: set[int] = field(default_factory=set)
    claims: Claims | None = None
    others_at_work: bool = False
    kind: RunKind = field(default_factory=RunKind)

    @property
    def loose(self) -> list[Contribution]:
        """Contributions that are in no sum, by number of the task; none where others are at work."""
        if self.others_at_work:
            return []
        held = {task for sum_file in self.sums for task in sum_file.tasks}
        return [contribution for task, contribution in sorted(self.done.items()) if task not in held]

    def left(self, tasks: Iterable[int]) -> list[int]:
        """Those of the tasks that are neither done nor set aside."""
        return [task for task in tasks if task not in self.done and task not in self.failed]

    def contribution(self, task: int, volume: str) -> Path:
        """The file of a task's contribution to a volume."""
        return self.folder / f"{task:06d}-{volume}.npy"

    def take(self, tasks: Iterable[int]) -> Iterator[int]:
        """Those of the tasks that no other group has taken, one by one, each taken when it is asked for."""
        for task in tasks:
            if self.claims is not None:
                if self.claims.take(task):
                    yield task
                continue
            # Of one run all groups end together: no lock is needed, which not all file systems share between hosts.
            path = self.folder / f"{task:06d}.claim"
            try:
                with ledger.io():
                    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            except FileExistsError:
                continue
            except OSError as error:
                raise atomic.failure(path, error) from None
            yield task

    def begun(self) -> int:
        """Number of tasks that all groups have taken in this run."""
        return sum(1 for _ in self.folder.glob("*.claim"))

    def finish_task(self, group: int, contribution: Contribution) -> None:
        """The contribution of a task is on disk."""
        self._append(group, contribution.line())
        self._settle(contribution.task)
        self.done[contribution.task] = contribution
        self.failed.pop(contribution.task, None)

    def set_aside(self, group: int, task: int, reason: str) -> None:
        """A task cannot be done; the others can."""
        self._append(group, {TASK_KEY: task, "failed": reason})
        self._settle(task)
        self.failed[task] = reason

    def _settle(self, task: int) -> None:
        if self.claims is not None:
            self.claims.settle(task)

    def flushed(self, group: int) -> None:
        """All contributions of the lines before are on the device."""
        self._append(group, {"flushed": True}, sync=True)

    def _append(self, group: int, line: Mapping[str, Any], sync: bool = False) -> None:
        """One line. A file of its own for each group: appending from several hosts is not safe everywhere."""
        path = self.folder / f"{self.run}-{group:04d}.jsonl"
        text = (json.dumps(plain(line), ensure_ascii=False) + "\n").encode(errors="backslashreplace")
        with atomic.writing(path), ledger.file("journal", "write"):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                with ledger.io(bytes=len(text)):
                    atomic.write_at(handle, memoryview(text), os.fstat(handle).st_size)
                if sync:
                    with ledger.flush():
                        os.fsync(handle)
            finally:
                os.close(handle)


def read_journal(folder: Path) -> Journal:
    """The journal in a folder. Raises FathometerError where sums are damaged."""
    journal = Journal(folder, finished=(folder / "finished").exists())
    for path in sorted(folder.glob("*.jsonl")):
        written: set[int] = set()  # by the lines of this file so far
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise FathometerError(f"{path}: cannot be read: {error.strerror}") from None
        for text in lines:
            try:
                line = json.loads(text)
                if "flushed" in line:
                    journal.unflushed -= written
                elif "failed" in line:
                    journal.failed[int(line[TASK_KEY])] = str(line["failed"])
                else:
                    contribution = Contribution.of(line)
                    journal.done[contribution.task] = contribution
                    journal.unflushed.add(contribution.task)
                    written.add(contribution.task)
            except (KeyError, TypeError, ValueError):  # cut short by what ended the run
                continue
    with suppress(OSError, ValueError):
        journal.repaired = json.loads((folder / "survey.json").read_text(encoding="utf-8")).get("repaired", [])
    # Before the sums are looked at: others place a sum before they remove what it holds.
    absent = {
        task
        for task, contribution in ({} if journal.finished else journal.done).items()
        if not all(journal.contribution(task, name).exists() for name in contribution.parts)
    }
    journal.sums = SumFile.all_in(folder)
    held = [task for sum_file in journal.sums for task in sum_file.tasks]
    if len(held) > len(set(held)) or not set(held) <= set(journal.done):
        raise FathometerError(f"{folder}: is damaged: its sums contradict its lines; --overwrite begins anew")
    for task in absent - set(held):
        del journal.done[task]
    journal.failed = {task: reason for task, reason in journal.failed.items() if task not in journal.done}
    return journal


def read_shared_journal(folder: Path) -> Journal:
    """The journal in a folder into which others write at the same time.

    Sums are those of others; what they do between two reads may seem to contradict itself, so it is read again.
    """
    reads = 0
    while True:
        try:
            journal = read_journal(folder)
        except FathometerError:
            reads += 1
            if reads > MOST_READS:
                raise
            sleep(NAP_SECONDS)
        else:
            journal.sums, journal.others_at_work = [], True
            return journal
