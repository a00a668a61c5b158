"""Opening, cleaning and removing the journal in a run's output folder."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import Mark, remove_file
from fathometer.record.envelope import RECORD, plain, write_record
from fathometer.runs.checksum import checksum, checksum_of_bytes
from fathometer.runs.fingerprint import differences
from fathometer.runs.journal import (
    FINGERPRINT,
    FOLDER,
    Contribution,
    Journal,
    read_fingerprint,
    read_journal,
    read_shared_journal,
)
from fathometer.runs.options import RunKind, RunOptions
from fathometer.runs.run_input import RunInput
from fathometer.runs.seal import with_seal
from fathometer.runs.sum_file import DamagedSumError, SumFile
from fathometer.storage import atomic
from fathometer.storage.json_text import json_values
from fathometer.storage.volumes.volume import open_volume

# Names of a journal's files, all that is ever removed from its folder (journal.py).
RECORDS = re.compile(r"finished|[\w.-]+-\d{4,}\.jsonl")
WORK = re.compile(r"\d{6,}-[\w.+-]+\.npy|image\.npy|[\w.-]+-\d{4,}-\d+\.sum|\d{6,}\.claim")
CLAIM = re.compile(r"\d{6,}\.claim")
PART = re.compile(rf"\.(?:{RECORDS.pattern}|{WORK.pattern}|survey\.json)\.\w+\.part")  # unfinished (atomic.py)
MARK = Mark(FINGERPRINT, b'{\n  "journal": ')
UNNAMED = "migration or time migration"
MAX_DIFFERENCES = 3  # in a message


def require_own(folder: Path) -> None:
    """Raises InputError where a folder within that of the results, such as a journal's, is there, but is a link, no
    folder, or another user's: in these nothing is written or removed."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None
    wrong = ""
    if stat.S_ISLNK(status.st_mode):
        wrong = f"is a link to {os.readlink(folder)[:200]!r}"
    elif not stat.S_ISDIR(status.st_mode):
        wrong = "is no folder"
    elif status.st_uid != os.geteuid():
        wrong = f"belongs to another user (number {status.st_uid})"
    if wrong:
        raise InputError(f"{folder}: {wrong}; allowed: a folder of this user's, or another [output] directory")


def require_journal(folder: Path) -> None:
    """Raises InputError where a folder holds something, but is no journal; as `require_own`, too."""
    require_own(folder)
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:  # missing, or taken away by the run that had it
        return
    others = [name for name in names if name != "lock" and not PART.fullmatch(name)]
    if others and not MARK.on(folder):  # which another run may just have made: looked at last
        other = next((name for name in others if name != FINGERPRINT), FINGERPRINT)
        of_this_program = " of this program's" if FINGERPRINT in others else ""
        raise InputError(
            f"{folder}: holds {other}, but no {FINGERPRINT}{of_this_program}: it is no journal; allowed: another "
            "[output] directory, or without that folder"
        )


def check_options(output: Path, options: RunOptions, kind: RunKind) -> None:
    """Raises InputError where the folder holds an earlier run and the options do not say what to do with it,
    FathometerError where its journal is damaged."""
    folder = output / FOLDER
    if options.overwrite:
        return
    other, finished = run_of(output), (folder / "finished").exists()
    if other not in ("", UNNAMED, kind.name) and (finished or read_journal(folder).any_lines):
        raise InputError(
            f"{output}: holds {'a finished' if finished else 'an unfinished'} {other}; allowed: another [output] "
            "directory, or --overwrite, which begins anew"
        )
    if options.resume:
        return
    if finished:
        raise InputError(f"{output}: holds a finished {kind.name}; --overwrite makes it anew")
    journal = read_journal(folder)
    if journal.any_lines:
        read_fingerprint(folder)  # names another version
        more = f", {len(journal.failed)} set aside" if journal.failed else ""
        more += f", {journal.damaged} lines damaged" if journal.damaged else ""
        raise InputError(
            f"{output}: holds an unfinished {kind.name} ({len(journal.done)} {kind.task}s done{more}); --resume goes "
            "on with it, --overwrite begins anew"
        )
    if kind.result in results_of(output):
        raise InputError(f"{output}: holds a {kind.name}'s results, without its journal; --overwrite makes them anew")


def has_journal(output: Path) -> bool:
    """Whether there is a journal in the output folder."""
    return (output / FOLDER / FINGERPRINT).exists()


def run_of(output: Path) -> str:
    """What kind of run the journal in the output folder is of (RunKind.name); UNNAMED: a migration, whose journal an
    earlier version has written; "" where there is none that can be read."""
    try:
        return str(read_fingerprint(output / FOLDER).get("run", UNNAMED)) if has_journal(output) else ""
    except FathometerError:
        return ""


def results_of(output: Path) -> dict[str, Path]:
    """The files in the record of a finished run in this folder, by kind; none without a record."""
    try:
        files = json_values((output / RECORD).read_bytes())["results"]["files"]
        return {str(kind): Path(path) for kind, path in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def open_journal(
    output: Path,
    input: RunInput,
    run: str,
    options: RunOptions,
    kind: RunKind,
    alone: bool = True,
    changed: Sequence[str] = (),
) -> Journal:
    """Create or open the journal in the output folder, after it was locked and `check_options` called.

    Args:
        input: of the computation. run: a name for this run. alone: no other run works in the folder. changed: what the
            tasks in the journal have read and is no longer the same, a line each that begins with kind.repairable.

    Raises InputError with the differences where the journal is of another input or version, FathometerError where it is
    damaged. What begins with kind.repairable may differ with options.retry_failed; tasks that are done are not repeated
    then.
    """
    folder = output / FOLDER
    path = folder / FINGERPRINT
    before = read_fingerprint(folder) if options.resume and path.exists() else None
    if before is None or before.pop("run", kind.name) != kind.name:  # another kind of run has done nothing there
        erase(folder)
        write_fingerprint(folder, input, kind)
        return Journal(folder, run=run, kind=kind)
    repaired, files = before.pop("repaired", []), before.pop("files", {})
    differing = differences(before, plain(input.fingerprint)) + list(changed)
    only_repairable = all(line.startswith(f"{kind.repairable}: ") for line in differing)
    if options.retry_failed and differing and only_repairable:
        # Input of failed tasks has been repaired: that is what --retry-failed is for.
        write_fingerprint(folder, input, kind, [*repaired, "; ".join(differing)])
    elif not differing:
        if alone and files != plain(input.files):  # looked at anew: the next run need not
            write_fingerprint(folder, input, kind, repaired)
    else:
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


def earlier_files(output: Path, options: RunOptions) -> Mapping[str, Any]:
    """RunInput.files of the run that is resumed; empty where there is none. Errors as of `read_fingerprint`."""
    if not options.resume or not has_journal(output):
        return {}
    files: Mapping[str, Any] = read_fingerprint(output / FOLDER).get("files", {})
    return files


def earlier_inputs(output: Path, alone: bool) -> dict[int, str]:
    """Hashes of what the tasks in the journal have read, by number. alone: no other run works in the folder."""
    folder = output / FOLDER
    return (read_journal(folder, but_damaged=True) if alone else read_shared_journal(folder)).inputs


def write_fingerprint(folder: Path, input: RunInput, kind: RunKind, repaired: Sequence[str] = ()) -> None:
    """Write a journal's survey.json. repaired: the differences that --retry-failed has allowed so far."""
    entries = {**input.fingerprint, "run": kind.name, "files": input.files}
    entries |= {"repaired": list(repaired)} if repaired else {}
    write_record(folder / FINGERPRINT, with_seal(entries))


def conclude(journal: Journal) -> None:
    """Mark the results as written and remove the contributions, unless some tasks have failed: these can be tried
    again. A journal that does not last goes whole."""
    if journal.failed:
        return
    if not journal.kind.lasting:
        erase(journal.folder)
        return
    atomic.write(journal.folder / "finished", b"")
    clear(journal.folder)


def erase(folder: Path) -> None:
    """Remove a journal except for its lock. The fingerprint, which marks the folder as a journal, is removed last;
    without it nothing but unfinished files is removed.

    Raises InputError where the folder is not this user's own."""
    require_own(folder)
    if MARK.on(folder):
        _remove(folder, RECORDS, WORK, PART)
        remove_file(folder / FINGERPRINT)
    else:
        _remove(folder, PART)


def clear(folder: Path) -> None:
    """Remove contributions, sums, claims and unfinished files."""
    _remove(folder, WORK, PART)


def _remove(folder: Path, *names: re.Pattern[str]) -> None:
    """Remove files, never folders, with such names."""
    for path in list(folder.iterdir()):
        if any(pattern.fullmatch(path.name) for pattern in names):
            remove_file(path)


def _tidy(folder: Path) -> None:
    """Remove unfinished and damaged files of an earlier run; the tasks of damaged contributions are to be repeated."""
    _remove(folder, CLAIM, PART)
    for path in folder.glob("*.sum"):
        try:
            SumFile.read(path)
        except DamagedSumError:
            remove_file(path)
    journal = read_journal(folder)
    for contribution in journal.loose:
        if not _intact(journal, contribution, values=contribution.task in journal.unflushed):
            del journal.done[contribution.task]
    known = {journal.contribution(loose.task, name) for loose in journal.loose for name in loose.parts}
    for path in folder.glob("*.npy"):
        if path not in known and WORK.fullmatch(path.name):
            remove_file(path)


def _intact(journal: Journal, contribution: Contribution, values: bool) -> bool:
    """Whether the files of a contribution are readable volumes of the right size and, with `values`, have the right
    checksums, which are always verified when contributions are summed; of arrays that are kept, whether they are what
    was written."""
    if contribution.kept:
        return all(
            _bytes_intact(journal.contribution(contribution.task, name), part.checksum)
            for name, part in contribution.parts.items()
        )
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


def _bytes_intact(path: Path, expected: int) -> bool:
    try:
        return checksum_of_bytes([path.read_bytes()]) == expected
    except OSError:
        require_access(path)
        return False


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
