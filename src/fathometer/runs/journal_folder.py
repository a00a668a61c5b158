"""Opening, cleaning and removing the journal in a run's output folder."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathometer.base.errors import FathometerError, InputError
from fathometer.record.envelope import RECORD, plain, write_record
from fathometer.runs.checksum import checksum
from fathometer.runs.fingerprint import differences
from fathometer.runs.journal import FINGERPRINT, FOLDER, Contribution, Journal, read_journal, read_shared_journal
from fathometer.runs.options import RunKind, RunOptions
from fathometer.runs.sum_file import DamagedSumError, SumFile
from fathometer.storage import atomic
from fathometer.storage.volumes.volume import open_volume

SUFFIXES = (".jsonl", ".npy", ".sum", ".claim")  # of a journal's files
MAX_DIFFERENCES = 3  # in a message


def check_options(output: Path, options: RunOptions, kind: RunKind) -> None:
    """Raises InputError where the folder holds an earlier run and the options do not say what to do with it, and where
    its subfolder `journal` is not a journal."""
    folder = output / FOLDER
    if not (folder / FINGERPRINT).exists():
        others = sorted(path.name for path in folder.iterdir() if path.name != "lock" and path.suffix != ".part")
        if others:
            raise InputError(
                f"{folder}: holds {others[0]}, but no {FINGERPRINT}: it is no journal; allowed: another [output] "
                "directory, or without that folder"
            )
    if options.overwrite or options.resume:
        return
    if (folder / "finished").exists():
        raise InputError(f"{output}: holds a finished {kind.name}; --overwrite makes it anew")
    journal = read_journal(folder)
    if journal.done or journal.failed:
        failed = f", {len(journal.failed)} set aside" if journal.failed else ""
        raise InputError(
            f"{output}: holds an unfinished {kind.name} ({len(journal.done)} {kind.task}s done{failed}); --resume goes "
            "on with it, --overwrite begins anew"
        )
    if kind.result in results_of(output):
        raise InputError(f"{output}: holds a {kind.name}'s results, without its journal; --overwrite makes them anew")


def has_journal(output: Path) -> bool:
    """Whether there is a journal in the output folder."""
    return (output / FOLDER / FINGERPRINT).exists()


def results_of(output: Path) -> dict[str, Path]:
    """The files in the record of a finished run in this folder, by kind; none without a record."""
    try:
        files = json.loads((output / RECORD).read_text(encoding="utf-8"))["results"]["files"]
        return {str(kind): Path(path) for kind, path in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def open_journal(
    output: Path, fingerprint: Mapping[str, Any], run: str, options: RunOptions, kind: RunKind, alone: bool = True
) -> Journal:
    """Create or open the journal in the output folder, after it was locked and `check_options` called.

    Args:
        fingerprint: of the computation. run: a name for this run. alone: no other run works in the folder.

    Raises InputError with the differences where the journal is of another input or version, FathometerError where it is
    damaged. The entry kind.repairable of the fingerprint may differ with options.retry_failed; tasks that are done are
    not repeated then.
    """
    folder = output / FOLDER
    path = folder / FINGERPRINT
    if not options.resume or not path.exists():
        erase(folder)
        write_record(path, fingerprint)
        return Journal(folder, run=run, kind=kind)
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise FathometerError(f"{path}: cannot be read; --overwrite begins anew") from None
    repaired = before.pop("repaired", [])
    differing = differences(before, plain(fingerprint))
    only_repairable = all(line.startswith(f"{kind.repairable}: ") for line in differing)
    if options.retry_failed and differing and only_repairable:
        # Input of failed tasks has been repaired: that is what --retry-failed is for.
        write_record(path, {**fingerprint, "repaired": [*repaired, before[kind.repairable]]})
    elif differing:
        more = f" and {len(differing) - MAX_DIFFERENCES} more" if len(differing) > MAX_DIFFERENCES else ""
        raise InputError(
            f"{output}: --resume: holds the journal of another {kind.name}: "
            f"{'; '.join(differing[:MAX_DIFFERENCES])}{more}; allowed: the same {kind.input} and version, or "
            "--overwrite" + (f"; --retry-failed, where the {kind.repairable} were mended" if only_repairable else "")
        )
    if (folder / "finished").exists():
        clear(folder)
    elif alone:
        _tidy(folder)
    journal = read_journal(folder) if alone else read_shared_journal(folder)
    if options.retry_failed:
        journal.failed.clear()
    journal.run, journal.kind = run, kind
    return journal


def conclude(journal: Journal) -> None:
    """Mark the results as written and remove the contributions, unless some tasks have failed: these can be tried
    again."""
    if journal.failed:
        return
    atomic.write(journal.folder / "finished", b"")
    clear(journal.folder)


def erase(folder: Path) -> None:
    """Remove a journal except for its lock. The fingerprint, which marks the folder as a journal, is removed last;
    without it nothing but unfinished files is removed."""
    fingerprint = folder / FINGERPRINT
    if fingerprint.exists():
        for path in folder.iterdir():
            if path.suffix in SUFFIXES or path.name == "finished":
                atomic.remove(path)
    for path in (*folder.glob(".*.part"), fingerprint):
        atomic.remove(path)


def clear(folder: Path) -> None:
    """Remove contributions, sums, claims and unfinished files."""
    for path in folder.iterdir():
        if path.suffix in (".npy", ".sum", ".claim", ".part"):
            atomic.remove(path)


def _tidy(folder: Path) -> None:
    """Remove unfinished and damaged files of an earlier run; the tasks of damaged contributions are to be repeated."""
    for path in folder.iterdir():
        if path.suffix in (".claim", ".part"):
            atomic.remove(path)
    for path in folder.glob("*.sum"):
        try:
            SumFile.read(path)
        except DamagedSumError:
            atomic.remove(path)
    journal = read_journal(folder)
    for contribution in journal.loose:
        if not _intact(journal, contribution, values=contribution.task in journal.unflushed):
            del journal.done[contribution.task]
    known = {journal.contribution(loose.task, name) for loose in journal.loose for name in loose.parts}
    for path in folder.glob("*.npy"):
        if path not in known:
            atomic.remove(path)


def _intact(journal: Journal, contribution: Contribution, values: bool) -> bool:
    """Whether the files of a contribution are readable volumes of the right size and, with `values`, have the right
    checksums. Checksums are always verified when contributions are summed."""
    cells = [b - a for a, b in zip(contribution.lo, contribution.hi, strict=True)]
    for name, part in contribution.parts.items():
        path = journal.contribution(contribution.task, name)
        try:
            with open_volume(path.name, path.parent) as volume:
                shape = volume.info.shape
                if math.prod(shape) != math.prod(cells):
                    return False
                if values:
                    block = volume.read([0] * len(shape), shape).reshape(cells)
                    if checksum(block, cells, (0, 0, 0)) != part.checksum:
                        return False
        except InputError:
            require_access(path)
            return False
    return True


def require_access(path: Path) -> None:
    """Tell a damaged or missing contribution from an unreadable one: raises FathometerError where the system refuses to
    read the file, which says nothing about its contents; returns where it is damaged or missing."""
    try:
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FathometerError(f"{path}: cannot be read: {error.strerror}") from None
