"""Opening, tidying and removing the journal in a folder of results."""

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
from fathometer.runs.journal import FOLDER, Contribution, Journal, read_journal, read_shared_journal
from fathometer.runs.options import RunKind, RunOptions
from fathometer.runs.sum_file import Damaged, SumFile
from fathometer.storage import atomic
from fathometer.storage.volumes.volume import open_volume

OWN = (".jsonl", ".npy", ".sum", ".claim")  # suffixes of a journal's files
MOST_DIFFERENCES = 3  # in a message


def check_options(output: Path, options: RunOptions, kind: RunKind) -> None:
    """Raises InputError where an earlier run's journal is there and the options do not say what to do with it, and
    where the folder is somebody else's."""
    folder = output / FOLDER
    if not (folder / "survey.json").exists():
        others = sorted(path.name for path in folder.iterdir() if path.name != "lock" and path.suffix != ".part")
        if others:
            raise InputError(
                f"{folder}: holds {others[0]}, but no survey.json: it is no journal; allowed: another [output] "
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
    """Whether there is a journal in the folder of the results."""
    return (output / FOLDER / "survey.json").exists()


def results_of(output: Path) -> dict[str, Path]:
    """The files that the record of a finished run in this folder names, by kind; none without one."""
    try:
        files = json.loads((output / RECORD).read_text(encoding="utf-8"))["results"]["files"]
        return {str(kind): Path(path) for kind, path in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def open_journal(
    output: Path, fingerprint: Mapping[str, Any], run: str, options: RunOptions, kind: RunKind, alone: bool = True
) -> Journal:
    """The journal in the folder of the results, which this run has locked and whose options were checked.

    Args:
        fingerprint: of what is computed. run: a name for this run. alone: no other run works in the folder.

    Raises InputError where the journal is of another input or version: what differs; FathometerError where it is
    damaged. Other contents of kind.repairable are taken where failed tasks are to be tried again: of the tasks that are
    done nothing is computed anew.
    """
    folder = output / FOLDER
    path = folder / "survey.json"
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
        # What was wrong with some of them has been repaired: that is what --retry-failed is for.
        write_record(path, {**fingerprint, "repaired": [*repaired, before[kind.repairable]]})
    elif differing:
        more = f" and {len(differing) - MOST_DIFFERENCES} more" if len(differing) > MOST_DIFFERENCES else ""
        raise InputError(
            f"{output}: --resume: holds the journal of another {kind.name}: "
            f"{'; '.join(differing[:MOST_DIFFERENCES])}{more}; allowed: the same {kind.input} and version, or "
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
    """The results are written: what they were made of is removed, unless tasks were set aside, to be tried again."""
    if journal.failed:
        return
    atomic.write(journal.folder / "finished", b"")
    clear(journal.folder)


def erase(folder: Path) -> None:
    """Remove a journal, all but its lock. survey.json, which marks it as one, goes last; nothing goes without it."""
    survey = folder / "survey.json"
    if survey.exists():
        for path in folder.iterdir():
            if path.suffix in OWN or path.name == "finished":
                atomic.remove(path)
    for path in (*folder.glob(".*.part"), survey):
        atomic.remove(path)


def clear(folder: Path) -> None:
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
    journal = read_journal(folder)
    for contribution in journal.loose:
        if not _intact(journal, contribution, values=contribution.task in journal.unflushed):
            del journal.done[contribution.task]
    known = {journal.contribution(loose.task, name) for loose in journal.loose for name in loose.parts}
    for path in folder.glob("*.npy"):
        if path not in known:
            atomic.remove(path)


def _intact(journal: Journal, contribution: Contribution, values: bool) -> bool:
    """Whether the files of a contribution have the size and head that were written, and, where that is asked, the
    values, which are looked at again when they are added up."""
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
    """Of a contribution that cannot be read as a volume: raises FathometerError where the system refuses to read it,
    which says nothing of what it holds; returns where it has changed, or is gone."""
    try:
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FathometerError(f"{path}: cannot be read: {error.strerror}") from None
