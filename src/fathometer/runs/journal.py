"""The journal of a resumable run: files from which a later run knows the finished tasks, whatever ended this one.

OUTPUT/journal/
    survey.json          fingerprint of the computation, and the state of its files (run_input.py)
    RUN-GROUP.jsonl      a line for each task, finished or failed; a file for each run and group of ranks
    NNNNNN-NAME.npy      contribution of the task to a volume of the results, or an array that is kept as it is; written
                         before its line
    NAME.sum             sum of contributions (sum_file.py), which replaces them
    NNNNNN.claim         the task was taken by a group of this run, or of several that share the tasks (claims.py)
    finished             the results are written
    lock                 held by the run (folder_lock.py); the system releases it with the process

A task is done when a sum contains it, or its line and its contribution exist. After a crash of the host, lines may be
on disk without their contributions: those after the last line that marks a flush are verified by their checksums when
the run is resumed. All records carry a version and a checksum (seal.py): a line that was changed or cut counts as not
written. The names survey.json and "shot", the key of a task's number, belong to the format.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import sleep
from typing import Any, Self

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.decomposition import Index3
from fathometer.runs.claims import Claims
from fathometer.runs.options import RunKind
from fathometer.runs.seal import JOURNAL, BrokenSealError, sealed, unsealed, without_seal
from fathometer.runs.sum_file import SumFile
from fathometer.storage import atomic
from fathometer.storage.json_text import json_values

FOLDER = "journal"
FINGERPRINT = "survey.json"  # file name
TASK_KEY = "shot"  # of the number of a task in a line
MAX_READS = 20  # of a journal that other runs are writing, until its files are consistent
NAP_SECONDS = 0.2  # between them


@dataclass(frozen=True)
class VolumePart:
    """A task's contribution to one volume: its largest magnitude, and its checksum (checksum.py); of an array that is
    kept as it is, that of its file."""

    peak: float
    checksum: int


@dataclass(frozen=True)
class Contribution:
    """Contribution of a finished task to the volumes of the results.

    Attributes:
        task: its number. lo, hi: half-open window of cells of the whole volumes, (x, y, z) each; empty: the parts are
            kept as they are. parts: by the name of the volume, or of the array; none where only a sum tells of the
            task. seconds: of the task. ranks: that worked on it. input: hash of what the task alone has read; "":
            nothing.
    """

    task: int
    lo: Index3
    hi: Index3
    parts: Mapping[str, VolumePart]
    seconds: float
    ranks: int
    input: str = ""

    @property
    def kept(self) -> bool:
        """Whether its parts are arrays that stand for themselves, not windows of volumes."""
        return self.lo == self.hi

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Self:
        """From a line of the journal. Raises KeyError, TypeError or ValueError for any other line."""
        parts = {name: VolumePart(float(part["peak"]), int(part["checksum"])) for name, part in line["parts"].items()}
        lo, hi = ((int(a), int(b), int(c)) for a, b, c in (line["lo"], line["hi"]))
        task, numbers = int(line[TASK_KEY]), (float(line["seconds"]), int(line["ranks"]))
        if not 0 <= task < 1 << 63:
            raise ValueError(f"a task of number {task}")
        return cls(task, lo, hi, parts, *numbers, str(line["input"]))

    def line(self) -> dict[str, Any]:
        """Its line of the journal, JSON-ready."""
        values = asdict(self)
        return {TASK_KEY: values.pop("task")} | values


@dataclass
class Journal:
    """State of a run as read from its folder; afterwards each group of ranks updates its own tasks only.

    Attributes:
        folder: of the journal. done: finished tasks by number. failed: reasons of failed tasks by number.
        failed_inputs: hashes of what these have read. damaged: lines that are not what was written.
        sums: of contributions of done tasks. finished: the results are written. run: name of this run.
        lost: tasks with a line whose contributions are missing; their work is to be done again.
        repaired: fingerprints of earlier versions of the repairable input, which some done tasks have used.
        unflushed: done tasks whose contributions may not have reached the device.
        claims: of a run that shares the tasks. others_at_work: other runs, or the last of them, sum up the earlier
            contributions. kind: the application's terms.
    """

    folder: Path
    done: dict[int, Contribution] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    failed_inputs: dict[int, str] = field(default_factory=dict)
    damaged: int = 0
    lost: list[int] = field(default_factory=list)
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
        """Contributions that are in no sum, in order of the tasks; none where other runs are at work."""
        if self.others_at_work:
            return []
        held = {task for sum_file in self.sums for task in sum_file.tasks}
        return [contribution for task, contribution in sorted(self.done.items()) if task not in held]

    @property
    def any_lines(self) -> bool:
        """Whether there is a line of a task, or one that may have been."""
        return bool(self.done or self.failed or self.damaged)

    @property
    def inputs(self) -> dict[int, str]:
        """Hashes of what finished and failed tasks have read, by number; "": not known."""
        return self.failed_inputs | {task: contribution.input for task, contribution in self.done.items()}

    def left(self, tasks: Iterable[int]) -> list[int]:
        """Those of the tasks that are neither done nor failed."""
        return [task for task in tasks if task not in self.done and task not in self.failed]

    def lose(self, task: int) -> None:
        """Take a task for not done, whose results are no longer there."""
        del self.done[task]
        self.lost.append(task)

    def contribution(self, task: int, volume: str) -> Path:
        """The file of a task's contribution to a volume, or of an array that it keeps."""
        return self.folder / f"{task:06d}-{volume}.npy"

    def take(self, tasks: Iterable[int]) -> Iterator[int]:
        """Take those of the tasks that no other group has taken, one at each step of the iterator."""
        for task in tasks:
            if self.claims is not None:
                if self.claims.take(task):
                    yield task
                continue
            # The groups of one run end together, so that a file is enough: some file systems have no locks.
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
        """Number of tasks that have been taken in this run, by any group, at least 1: for the display of progress."""
        with suppress(OSError):
            return max(1, sum(1 for _ in self.folder.glob("*.claim")))
        return 1

    def finish_task(self, group: int, contribution: Contribution) -> None:
        """Write the line of a task whose contribution is on disk. group: number of this group of ranks."""
        self._append(group, contribution.line())
        self._settle(contribution.task)
        self.done[contribution.task] = contribution
        self.failed.pop(contribution.task, None)

    def set_aside(self, group: int, task: int, reason: str, input: str = "") -> None:
        """Write the line of a task that has failed while others may succeed. input: hash of what it reads."""
        self._append(group, {TASK_KEY: task, "failed": reason, "input": input})
        self._settle(task)
        self.failed[task], self.failed_inputs[task] = reason, input

    def _settle(self, task: int) -> None:
        if self.claims is not None:
            self.claims.settle(task)

    def flushed(self, group: int) -> None:
        """Write that all contributions of the lines so far are on the device."""
        self._append(group, {"flushed": True}, sync=True)

    def _append(self, group: int, line: Mapping[str, Any], sync: bool = False) -> None:
        """Append a line to the file of a group; each has its own, since appending from several hosts is not safe."""
        path = self.folder / f"{self.run}-{group:04d}.jsonl"
        text = (sealed(line) + "\n").encode()
        with atomic.writing(path), ledger.file("journal", "write"):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666)
            try:
                with ledger.io(bytes=len(text)):
                    atomic.write_at(handle, memoryview(text), os.fstat(handle).st_size)
                if sync:
                    with ledger.flush():
                        os.fsync(handle)
            finally:
                os.close(handle)


def read_journal(folder: Path, but_damaged: bool = False) -> Journal:
    """The journal in a folder. Raises FathometerError where a file cannot be read or, unless these are to be left out
    (but_damaged), sums are damaged."""
    journal = Journal(folder, finished=(folder / "finished").exists())
    for path in sorted(folder.glob("*.jsonl")):
        written: set[int] = set()  # by the lines of this file so far
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError as error:
            raise FathometerError(f"{path}: cannot be read: {error.strerror}") from None
        for text in filter(None, lines):
            try:
                line = unsealed(text)
                if "flushed" in line:
                    journal.unflushed -= written
                elif "failed" in line:
                    task = int(line[TASK_KEY])
                    journal.failed[task], journal.failed_inputs[task] = str(line["failed"]), str(line["input"])
                else:
                    contribution = Contribution.of(line)
                    journal.done[contribution.task] = contribution
                    journal.unflushed.add(contribution.task)
                    written.add(contribution.task)
            except (AttributeError, KeyError, OverflowError, TypeError, ValueError):  # changed, or cut short at an end
                journal.damaged += 1
    with suppress(FathometerError):
        journal.repaired = read_fingerprint(folder).get("repaired", [])
    # Before the sums are read: other runs write a sum before they remove its contributions.
    absent = {
        task
        for task, contribution in ({} if journal.finished else journal.done).items()
        if not all(journal.contribution(task, name).exists() for name in contribution.parts)
    }
    journal.sums = SumFile.all_in(folder, but_damaged)
    held = [task for sum_file in journal.sums for task in sum_file.tasks]
    if len(held) > len(set(held)):
        raise FathometerError(f"{folder}: is damaged: its sums contradict each other; --overwrite begins anew")
    for task in sorted(absent - set(held)):
        journal.lose(task)
    for sum_file in journal.sums:  # which know all that matters of their tasks, also where a line was lost
        for task, input in zip(sum_file.tasks, sum_file.inputs, strict=True):
            journal.done.setdefault(task, Contribution(task, (0, 0, 0), (0, 0, 0), {}, 0.0, 0, input))
    journal.failed = {task: reason for task, reason in journal.failed.items() if task not in journal.done}
    return journal


def read_fingerprint(folder: Path) -> dict[str, Any]:
    """The entries of a journal's survey.json. Raises FathometerError where it cannot be read or was changed, InputError
    where an earlier version has written it."""
    path = folder / FINGERPRINT
    try:
        return without_seal(json_values(path.read_text(encoding="utf-8")))
    except BrokenSealError as error:
        if error.version is not None:
            raise InputError(
                f"{path}: was written by another version of the program (journal {error.version}, here "
                f"{JOURNAL.version}), whose results cannot be gone on with; --overwrite begins anew"
            ) from None
        raise FathometerError(f"{path}: is damaged: {error}; --overwrite begins anew") from None
    except (OSError, ValueError):
        raise FathometerError(f"{path}: cannot be read; --overwrite begins anew") from None


def read_shared_journal(folder: Path) -> Journal:
    """The journal in a folder into which other runs write at the same time.

    The sums belong to those runs and are left out. Changes between two reads may look like damage, so that the journal
    is read again, at most MAX_READS times. Raises FathometerError as `read_journal`.
    """
    reads = 0
    while True:
        try:
            journal = read_journal(folder)
        except FathometerError:
            reads += 1
            if reads > MAX_READS:
                raise
            sleep(NAP_SECONDS)
        else:
            journal.sums, journal.others_at_work = [], True
            return journal
