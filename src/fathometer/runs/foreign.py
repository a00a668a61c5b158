"""Files in a folder of results that bear the names of this program's, and are none: they are not replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.base.removal import Mark
from fathometer.record.envelope import BEGINNING, PAGE, RECORD, UNFINISHED
from fathometer.runs import journal_folder
from fathometer.runs.journal import FOLDER as JOURNAL
from fathometer.runs.options import RunOptions
from fathometer.runs.restart_hint import DEMO, has_state
from fathometer.storage.fingerprint import parts_of
from fathometer.storage.volumes.registry import require_replaceable


def require_own_record(output: Path) -> bool:
    """Whether a folder of results holds the record of a run, finished or not.

    Raises InputError where a file of that name is none of this program's.
    """
    there = [name for name in (RECORD, UNFINISHED) if os.path.lexists(output / name)]
    for name in there:
        if not Mark(name, BEGINNING).on(output):
            raise InputError(
                f"{output}: holds {name}, which is no record of this program's and is not replaced; allowed: another "
                "directory for the results"
            )
    return bool(there)


def require_own_results(output: Path, results: Iterable[Path], options: RunOptions) -> None:
    """Raises InputError, before anything is written, where a run would replace files, and nothing in the folder of its
    results says that a run of this program has written them; with --overwrite for folders alone, which are never
    replaced then.

    results: what the run writes there beside its record and its page.
    """
    files = [part for path in (*results, output / PAGE) for part in parts_of(path)]
    for path in files:
        require_replaceable(path)
    there = next((path for path in files if os.path.lexists(path)), None)
    if there is not None and not options.overwrite and not _holds_a_run(output):
        raise InputError(
            f"{there}: is there, but no record of a run of this program's lies in {output}: it is not replaced; "
            "allowed: another [output] directory, or --overwrite, which replaces it"
        )


def _holds_a_run(output: Path) -> bool:
    """Whether a run of this program has left its record, its journal or a state in a folder."""
    return (
        any(Mark(name, BEGINNING).on(output) for name in (RECORD, UNFINISHED))
        or journal_folder.MARK.on(output / JOURNAL)
        or has_state(output)
    )


def require_own_demo(folder: Path, text: str, others: Iterable[str] = ()) -> None:
    """Raises InputError where a folder holds files that a demo writes, but no demo.

    text: of the demo's input file, by the first line of which it is known. others: names of the other files.
    """
    there = [name for name in (DEMO, *others) if os.path.lexists(folder / name)]
    if there and not Mark(DEMO, f"{text.partition(chr(10))[0]}\n".encode()).on(folder):
        raise InputError(
            f"{folder}: holds {', '.join(there)}, but no demo of this program's: nothing is replaced; allowed: another "
            "folder (--output)"
        )
