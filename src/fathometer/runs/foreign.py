"""Files in a folder of results that bear the names of this program's, and are none: they are not replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.base.removal import Mark
from fathometer.record.envelope import BEGINNING, RECORD, UNFINISHED
from fathometer.runs.restart_hint import DEMO


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
