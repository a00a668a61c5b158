"""Notes on a survey, each in full once a day: the commands of one survey have the same notes.

What has been told is kept in the user's cache folder; where nothing can be kept, all notes are told every time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path

from fathometer.base.errors import FathometerError
from fathometer.base.formatting import number_of
from fathometer.base.names import visible_name
from fathometer.storage import atomic
from fathometer.storage.folder import cache_folder
from fathometer.storage.json_text import json_values

DAY = 86400.0  # s; older notes are told again
WHERE = "all are in the record, results.notes"


def note_lines(notes: Sequence[str], about: Path, where: str = WHERE) -> list[str]:
    """The lines of notes for people: those told of this file within a day are only counted.

    about: the input file. where: the way to those that are only counted.
    """
    folder = cache_folder()
    path = None if folder is None else folder / "notes.json"
    now = time.time()
    told = {} if path is None else {key: when for key, when in _read(path).items() if now - DAY < when <= now}
    keys = [_key(about, note) for note in notes]
    lines = [f"note: {visible_name(note)}" for key, note in zip(keys, notes, strict=True) if key not in told]
    before = len(notes) - len(lines)
    if lines and path is not None:
        with contextlib.suppress(OSError, FathometerError):
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic.write(path, json.dumps(told | dict.fromkeys(keys, now)).encode())
    if before:
        lines.append(f"note: {number_of(before, 'note')} as told before; {where}")
    return lines


def _key(about: Path, note: str) -> str:
    return hashlib.sha256(f"{about.absolute()}\0{note}".encode(errors="surrogateescape")).hexdigest()


def _read(path: Path) -> dict[str, float]:
    """When notes were told, by their hashes; none from a file that is not one."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return {key: when for key, when in json_values(path.read_text()).items() if isinstance(when, float)}
    return {}
