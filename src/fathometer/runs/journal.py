"""What is done of a migration, on disk: whatever ends a run, what was finished is not lost.

OUTPUT/journal/
    survey.json          what is migrated (identity.py), written once
    RUN-GROUP.jsonl      a line a shot, finished or set aside; a file for each run and group of ranks
    NNNNNN-VOLUME.npy    what the shot adds to a volume of the results; there before its line is
    NAME.sum             contributions added up (partial.py); it replaces them
    NNNNNN.claim         this shot was taken by a group of this run, or of several that share the shots (sharing.py)
    finished             the results are written
    lock                 held by the run; the system lets go of it with the process

A shot is done when its line is there, and its contribution or a sum that holds it. Where the host itself went down,
lines may have reached the disk without the contributions they tell of: those behind the last line that tells of a flush
are compared with their checksums when the run is resumed.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import sleep
from typing import Any, Self

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.decomposition import Index3
from fathometer.record.envelope import RECORD, plain, write_record
from fathometer.runs.checksum import checksum
from fathometer.runs.claims import Claims
from fathometer.runs.sum_file import Damaged, SumFile
from fathometer.seismic.rtm.fingerprint import differences
from fathometer.seismic.shots.offsets import ALL
from fathometer.storage import atomic
from fathometer.storage.volumes.volume import open_volume

FOLDER = "journal"
OWN = (".jsonl", ".npy", ".sum", ".claim")  # what a journal's files end in
TOLD = 3  # of what differs
LOOKS = 20  # at a journal that others write, until it makes sense
NAP_SECONDS = 0.2  # between them


@dataclass(frozen=True)
class Part:
    """What a shot adds to one volume: largest magnitude, and the checksum of its cells (checksum.py)."""

    peak: float
    checksum: int


@dataclass(frozen=True)
class Entry:
    """A finished shot: the window of the model's cells that it adds to (half-open), and what it adds to each volume."""

    shot: int
    lo: Index3
    hi: Index3
    parts: Mapping[str, Part]
    seconds: float
    ranks: int

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Self:
        """From a line of the journal. Raises KeyError, TypeError, ValueError where it is none."""
        parts = {name: Part(float(part["peak"]), int(part["checksum"])) for name, part in line["parts"].items()}
        lo, hi = ((int(a), int(b), int(c)) for a, b, c in (line["lo"], line["hi"]))
        return cls(int(line["shot"]), lo, hi, parts, float(line["seconds"]), int(line["ranks"]))


@dataclass(frozen=True)
class RunOptions:
    """What the command line says of an earlier run in the same folder, and of others at the same time (share: the name
    that they say too; "": there are none)."""

    resume: bool = False
    overwrite: bool = False
    retry_failed: bool = False
    share: str = ""


@dataclass
class Journal:
    """The state of a migration as its folder told it when it was opened; afterwards each group knows its own shots.

    Attributes:
        done: finished shots by number. failed: reasons of those set aside. sums: of the contributions of done shots.
        finished: the results are written. unflushed: done shots whose contributions may not have reached the device.
        repaired: fingerprints of traces that some of the done shots are of, and which were replaced since.
    """

    folder: Path
    done: dict[int, Entry] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    sums: list[SumFile] = field(default_factory=list)
    finished: bool = False
    run: str = ""
    repaired: list[str] = field(default_factory=list)
    unflushed: set[int] = field(default_factory=set)
    claims: Claims | None = None  # of a run that shares the shots
    beside: bool = False  # others are at work: what was done before is theirs, or the last one's, to add up

    @property
    def loose(self) -> list[Entry]:
        """Of finished shots whose contributions are in no sum, in order; none where that is for others to say."""
        if self.beside:
            return []
        held = {shot for one in self.sums for shot in one.shots}
        return [entry for shot, entry in sorted(self.done.items()) if shot not in held]

    def contribution(self, shot: int, volume: str) -> Path:
        """The file of what a shot adds to a volume."""
        return self.folder / f"{shot:06d}-{volume}.npy"

    def take(self, shots: Iterable[int]) -> Iterator[int]:
        """Those of the shots that no other group has taken, one by one, each taken when it is asked for."""
        for shot in shots:
            if self.claims is not None:
                if self.claims.take(shot):
                    yield shot
                continue
            # Of one run all groups end together: no lock is needed, which not all file systems share between hosts.
            path = self.folder / f"{shot:06d}.claim"
            try:
                with ledger.io():
                    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            except FileExistsError:
                continue
            except OSError as error:
                raise atomic.failure(path, error) from None
            yield shot

    def begun(self) -> int:
        """Shots that all groups have taken in this run."""
        return sum(1 for _ in self.folder.glob("*.claim"))

    def finish_shot(self, group: int, entry: Entry) -> None:
        """The contribution of a shot is on disk."""
        self._append(group, asdict(entry))
        self._settle(entry.shot)
        self.done[entry.shot] = entry
        self.failed.pop(entry.shot, None)

    def set_aside(self, group: int, shot: int, reason: str) -> None:
        """A shot cannot be migrated; the others can."""
        self._append(group, {"shot": shot, "failed": reason})
        self._settle(shot)
        self.failed[shot] = reason

    def _settle(self, shot: int) -> None:
        if self.claims is not None:
            self.claims.settle(shot)

    def flushed(self, group: int) -> None:
        """All contributions that the lines before tell of are on the device."""
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

    def conclude(self) -> None:
        """The results are written: what they were made of goes, unless shots were set aside, which may yet come."""
        if self.failed:
            return
        atomic.write(self.folder / "finished", b"")
        _clear(self.folder)


class Lock:
    """That no other run uses the folder."""

    def __init__(self, folder: Path) -> None:
        """Raises InputError where another run holds it."""
        self._folder = folder
        path = folder / "lock"
        while True:
            with atomic.writing(path):
                folder.mkdir(exist_ok=True)
                self._file = path.open("a+")
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.seek(0)
                holder = self._file.read().strip() or "another process"
                self._file.close()
                raise InputError(
                    f"{folder.parent}: is in use by another run ({holder}); allowed: to wait for its end, or another "
                    "[output] directory"
                ) from None
            except OSError as error:  # a file system without locks
                self._file.close()
                raise atomic.failure(path, error) from None
            if os.fstat(self._file.fileno()).st_nlink:
                break
            self._file.close()  # its holder has removed it in the meantime
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        self._file.flush()

    def close(self) -> None:
        """Let go; a journal of no shot goes."""
        with suppress(FathometerError):
            found = read_journal(self._folder) if (self._folder / "survey.json").exists() else None
            if found is None or not (found.finished or found.done or found.failed):
                erase(self._folder)
                atomic.remove(self._folder / "lock")
                with suppress(OSError):  # something else is in it
                    self._folder.rmdir()
        self._file.close()


def check_options(output: Path, options: RunOptions) -> None:
    """Raises InputError where an earlier run's journal is there and the options do not say what to do with it, and
    where the folder is somebody else's."""
    folder = output / FOLDER
    if not (folder / "survey.json").exists():
        others = sorted(one.name for one in folder.iterdir() if one.name != "lock" and one.suffix != ".part")
        if others:
            raise InputError(
                f"{folder}: holds {others[0]}, but no survey.json: it is no journal; allowed: another [output] "
                "directory, or without that folder"
            )
    if options.overwrite or options.resume:
        return
    if (folder / "finished").exists():
        raise InputError(f"{output}: holds a finished migration; --overwrite makes it anew")
    found = read_journal(folder)
    if found.done or found.failed:
        failed = f", {len(found.failed)} set aside" if found.failed else ""
        raise InputError(
            f"{output}: holds an unfinished migration ({len(found.done)} shots done{failed}); --resume goes on with "
            "it, --overwrite begins anew"
        )
    if ALL in results_of(output):
        raise InputError(f"{output}: holds a migration's results, without its journal; --overwrite makes them anew")


def results_of(output: Path) -> dict[str, Path]:
    """The files that the record of a finished run in this folder names, by kind; none without one."""
    try:
        found = json.loads((output / RECORD).read_text(encoding="utf-8"))["results"]["files"]
        return {str(kind): Path(path) for kind, path in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def open_journal(
    output: Path, migration_fingerprint: Mapping[str, Any], run: str, options: RunOptions, alone: bool = True
) -> Journal:
    """The journal in the folder of the results, which this run has locked and whose options were checked.

    run: a name for this run. alone: no other run works in it. Raises InputError where the journal is of another survey,
    model or version: what differs; FathometerError where it is damaged. Other contents of the traces are taken where
    failed shots are to be tried again: of the shots that are done nothing is computed anew.
    """
    folder = output / FOLDER
    path = folder / "survey.json"
    if not options.resume or not path.exists():
        erase(folder)
        write_record(path, migration_fingerprint)
        return Journal(folder, run=run)
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise FathometerError(f"{path}: cannot be read; --overwrite begins anew") from None
    repaired = before.pop("repaired", [])
    differing = differences(before, plain(migration_fingerprint))
    mended = all(line.startswith("traces: ") for line in differing)
    if options.retry_failed and differing and mended:
        # What was wrong with some of them has been mended: that is what --retry-failed is for.
        write_record(path, {**migration_fingerprint, "repaired": [*repaired, before["traces"]]})
    elif differing:
        more = f" and {len(differing) - TOLD} more" if len(differing) > TOLD else ""
        raise InputError(
            f"{output}: --resume: holds the journal of another migration: {'; '.join(differing[:TOLD])}{more}; "
            "allowed: the same survey, files and version, or --overwrite"
            + ("; --retry-failed, where the traces were mended" if mended else "")
        )
    if (folder / "finished").exists():
        _clear(folder)
    elif alone:
        _tidy(folder)
    found = read_journal(folder) if alone else _read_beside_others(folder)
    if options.retry_failed:
        found.failed.clear()
    found.run = run
    return found


def erase(folder: Path) -> None:
    """Remove a journal, all but its lock. What tells that it is one goes last, and nothing where that is not there."""
    survey = folder / "survey.json"
    if survey.exists():
        for path in folder.iterdir():
            if path.suffix in OWN or path.name == "finished":
                atomic.remove(path)
    for path in (*folder.glob(".*.part"), survey):
        atomic.remove(path)


def _clear(folder: Path) -> None:
    """Remove what finished results were made of."""
    for path in folder.iterdir():
        if path.suffix in (".npy", ".sum", ".claim", ".part"):
            atomic.remove(path)


def _tidy(folder: Path) -> None:
    """Remove what an earlier run was in the middle of, and what has been damaged since."""
    for path in folder.iterdir():
        if path.suffix in (".claim", ".part"):
            atomic.remove(path)
    for path in folder.glob("*.sum"):
        try:
            SumFile.read(path)
        except Damaged:
            atomic.remove(path)
    found = read_journal(folder)
    for entry in found.loose:
        if not _sound(found, entry, values=entry.shot in found.unflushed):
            del found.done[entry.shot]
    known = {found.contribution(entry.shot, name) for entry in found.loose for name in entry.parts}
    for path in folder.glob("*.npy"):
        if path not in known:
            atomic.remove(path)


def require_access(path: Path) -> None:
    """Of a contribution that cannot be taken for a volume: raises FathometerError where the system refuses to read it,
    which says nothing of what it holds; returns where it has changed, or is gone."""
    try:
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FathometerError(f"{path}: cannot be read: {error.strerror}") from None


def _sound(journal: Journal, entry: Entry, values: bool) -> bool:
    """Whether the files of a contribution have the size and head that were written, and, where that is asked, the
    values, which are looked at again when they are added up."""
    cells = [b - a for a, b in zip(entry.lo, entry.hi, strict=True)]
    for name, part in entry.parts.items():
        path = journal.contribution(entry.shot, name)
        try:
            with open_volume(path.name, path.parent) as volume:
                shape = volume.info.shape
                if math.prod(shape) != math.prod(cells):
                    return False
                if values:
                    found = volume.read([0] * len(shape), shape).reshape(cells)
                    if checksum(found, cells, (0, 0, 0)) != part.checksum:
                        return False
        except InputError:
            require_access(path)
            return False
    return True


def _read_beside_others(folder: Path) -> Journal:
    """What the files of a journal tell that others write. Sums are those of others; what they do between two looks may
    seem to contradict itself."""
    looks = 0
    while True:
        try:
            found = read_journal(folder)
        except FathometerError:
            looks += 1
            if looks > LOOKS:
                raise
            sleep(NAP_SECONDS)
        else:
            found.sums, found.beside = [], True
            return found


def read_journal(folder: Path) -> Journal:
    """What the files of a journal tell. Raises FathometerError where sums are damaged."""
    found = Journal(folder, finished=(folder / "finished").exists())
    for path in sorted(folder.glob("*.jsonl")):
        here: set[int] = set()
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise FathometerError(f"{path}: cannot be read: {error.strerror}") from None
        for line in lines:
            try:
                told = json.loads(line)
                if "flushed" in told:
                    found.unflushed -= here
                elif "failed" in told:
                    found.failed[int(told["shot"])] = str(told["failed"])
                else:
                    entry = Entry.of(told)
                    found.done[entry.shot] = entry
                    found.unflushed.add(entry.shot)
                    here.add(entry.shot)
            except (KeyError, TypeError, ValueError):  # cut short by what ended the run
                continue
    with suppress(OSError, ValueError):
        found.repaired = json.loads((folder / "survey.json").read_text(encoding="utf-8")).get("repaired", [])
    # Before the sums are looked at: others place a sum before they remove what it holds.
    absent = {
        shot
        for shot, one in ({} if found.finished else found.done).items()
        if not all(found.contribution(shot, name).exists() for name in one.parts)
    }
    found.sums = SumFile.all_in(folder)
    held = [shot for one in found.sums for shot in one.shots]
    if len(held) > len(set(held)) or not set(held) <= set(found.done):
        raise FathometerError(f"{folder}: is damaged: sums of shots contradict its lines; --overwrite begins anew")
    for shot in absent - set(held):
        del found.done[shot]
    found.failed = {shot: reason for shot, reason in found.failed.items() if shot not in found.done}
    return found
