"""What a farm keeps beside the results, in their folder.

farm.json          of which tasks the results are: fingerprint and states of files, sealed; there before any result
set-aside.jsonl    tasks that are not tried again, a sealed line each
progress.jsonl     how many tasks are finished, and how many are on the device: a line each time these become more
queries.npy        of FASTA: hashes of the names of sequences, sorted, and the number of the task that has each
node-0000.zst, …   the results, a file for each node (blocks.py)

Which tasks are done, the files of the results say alone.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import Mark, remove_file
from fathometer.record.envelope import plain
from fathometer.runs.fingerprint import differences
from fathometer.runs.seal import BrokenSealError, Kind, sealed, unsealed
from fathometer.storage import atomic

FOLDER, FILE, SET_ASIDE, PROGRESS, QUERIES = "results", "farm.json", "set-aside.jsonl", "progress.jsonl", "queries.npy"
SEAL = Kind("farm", 1)
MARK = Mark(FILE, b'{"farm": ')
NODE_FILE = re.compile(r"node-\d{4,}\.(?:zst|blocks)")
PROGRESS_WIDTH = 64  # bytes of a line
MOST_DIFFERENCES = 3  # in a message
SUFFIXES = {"zstd": ".zst", "length": ".blocks"}


def node_file(folder: Path, node: int, framing: str) -> Path:
    """The file of a node's results."""
    return folder / f"node-{node:04d}{SUFFIXES[framing]}"


def node_files(folder: Path) -> list[Path]:
    """Those that are there, in order of the nodes."""
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if NODE_FILE.fullmatch(path.name) and _is_file(path))
    return []


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def has_farm(output: Path) -> bool:
    """Whether a farm has left results in its folder, or was about to."""
    return MARK.on(output / FOLDER)


class FarmJournal:
    """The lines of a folder of results, to which more are added. path: of those of tasks that are set aside."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / SET_ASIDE
        self._progress = folder / PROGRESS
        self._last = (-1, -1)
        self._place: int | None = None  # of the last line

    def set_aside(self, number: int, reason: str) -> None:
        """A task is not tried again. Raises OSError."""
        _append(self.path, sealed({"task": number, "reason": reason}, SEAL))

    def progress(self, finished: int, done: int) -> None:
        """So many tasks are finished, and so many of these on the device: a new line where these have become more, else
        in place of the last one. Raises OSError."""
        if (finished, done) == self._last:
            return
        line = json.dumps({"finished": finished, "done": done}).ljust(PROGRESS_WIDTH - 1).encode() + b"\n"
        handle = os.open(self._progress, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            if self._place is None or done != self._last[1]:
                self._place = os.fstat(handle).st_size
            os.pwrite(handle, line, self._place)
        finally:
            os.close(handle)
        self._last = (finished, done)


def _append(path: Path, line: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        os.write(handle, f"{line}\n".encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def set_aside_in(folder: Path) -> dict[int, str]:
    """The tasks that are not tried again, and why. Lines that are damaged are none: these tasks are tried again."""
    found: dict[int, str] = {}
    with suppress(OSError):
        for line in (folder / SET_ASIDE).read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(BrokenSealError, KeyError, TypeError, ValueError):
                values = unsealed(line, SEAL)
                found[int(values["task"])] = str(values["reason"])
    return found


def finished_in(folder: Path) -> int:
    """How many tasks were finished when the last run ended, on the device or not."""
    last = 0
    with suppress(OSError):
        for line in (folder / PROGRESS).read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                last = int(json.loads(line)["finished"])
    return last


def read_farm(folder: Path) -> dict[str, Any]:
    """Of which tasks the results in a folder are. Raises FathometerError where that is damaged or not there."""
    path = folder / FILE
    try:
        return unsealed(path.read_text(encoding="utf-8").removesuffix("\n"), SEAL)
    except BrokenSealError as error:
        raise FathometerError(f"{path}: is damaged: {error}") from None
    except (OSError, ValueError):
        raise FathometerError(f"{path}: cannot be read: no farm has left results there") from None


def write_farm(folder: Path, values: Mapping[str, Any]) -> None:
    """The same for a later run. Raises FathometerError."""
    atomic.write(folder / FILE, f"{sealed(values, SEAL)}\n".encode())


def require_same(folder: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raises InputError where the results are of other tasks than those of a run that is to go on with them."""
    found = differences(before, plain(now))
    if found:
        more = f" and {len(found) - MOST_DIFFERENCES} more" if len(found) > MOST_DIFFERENCES else ""
        raise InputError(
            f"{folder}: --resume: holds results of other tasks: {'; '.join(found[:MOST_DIFFERENCES])}{more}; allowed: "
            "the same files, programs and commands, or --overwrite"
        )


def require_own(folder: Path) -> None:
    """Raises InputError where a folder holds files with the names of a farm's, and is none of a farm."""
    if MARK.on(folder):
        return
    names = [name for name in (FILE, SET_ASIDE, PROGRESS, QUERIES) if os.path.lexists(folder / name)]
    found = [*names, *(path.name for path in node_files(folder))]
    if found:
        raise InputError(
            f"{folder}: holds {found[0]}, but is of no farm of this program's: nothing is replaced; allowed: another "
            "[output] directory, or without that file"
        )


def forget_set_aside(folder: Path) -> None:
    """Try all tasks again that were set aside."""
    remove_file(folder / SET_ASIDE)


def write_queries(folder: Path, names: NDArray[np.uint64]) -> None:
    """The hashes of the names of sequences, and the tasks that have them. Raises FathometerError."""
    buffer = io.BytesIO()
    np.save(buffer, names[np.argsort(names[:, 0], kind="stable")])
    atomic.write(folder / QUERIES, buffer.getvalue())


def tasks_with(folder: Path, name: int) -> list[int]:
    """The tasks with a sequence of a name, by its hash. Raises FathometerError where that is not known."""
    try:
        names = np.load(folder / QUERIES, mmap_mode="r")
        if names.ndim != 2 or names.shape[1] != 2 or names.dtype != np.uint64:
            raise ValueError("other numbers")
    except (OSError, ValueError, EOFError):
        raise FathometerError(f"{folder / QUERIES}: cannot be read: no sequence can be found by its name") from None
    first, last = (int(np.searchsorted(names[:, 0], np.uint64(name), side=side)) for side in ("left", "right"))
    return sorted({int(task) for task in names[first:last, 1]})


def erase(folder: Path, names: Sequence[str] = (SET_ASIDE, PROGRESS, QUERIES, FILE)) -> None:
    """Remove a farm's results and what it keeps beside them; farm.json, by which they are known, last."""
    if MARK.on(folder):
        for path in node_files(folder):
            remove_file(path)
        for name in names:
            remove_file(folder / name)
