"""Results of tasks, kept in a folder until all tasks are done: what --resume goes on with where results of tasks stand
side by side and are not added up (for those that are: lifecycle.py).

    out/finished-tasks/lock          one run at a time
    out/finished-tasks/input.json    what the results depend on, with a checksum (seal.py); by it the folder is known
    out/finished-tasks/00000003.npz  arrays of task 3, complete; behind them a hash of them, the number and the input

A file whose hash does not fit, as one of another task or another run's, is not taken for the task's results.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import Mark, remove_empty, remove_file
from fathometer.parallel.collectives import collective_errors
from fathometer.runs.fingerprint import differences
from fathometer.runs.journal_folder import require_own
from fathometer.runs.options import RunOptions
from fathometer.runs.results_lock import require_own_lock
from fathometer.runs.seal import BrokenSealError, Kind, sealed, unsealed
from fathometer.storage import atomic
from fathometer.storage.fingerprint import hash_of
from fathometer.storage.lock import FileLock, this_process
from fathometer.storage.reading import reading

FOLDER, FILE, LOCK = "finished-tasks", "input.json", "lock"
NAME = re.compile(r"(\d{8,})\.npz")
OWN = re.compile(rf"{re.escape(FILE)}|{NAME.pattern}")
UNFINISHED = re.compile(rf"\.(?:{OWN.pattern})\.[a-z0-9_]{{8}}\.part")  # (atomic.py)
KIND = "finished tasks"  # of file, in the account
SEAL = Kind(KIND, 3)
MARK = Mark(FILE, f'{{"{KIND}": '.encode())  # of the folder: how `sealed` begins, in any version
HASH_BYTES = len(hash_of())


class FinishedTasks:
    """The results of a run's finished tasks; made by `finished_tasks`.

    Attributes:
        done: numbers of the tasks that are finished, the same on all ranks.
    """

    def __init__(self, folder: Path, done: set[int], input: str, comm: MPI.Intracomm) -> None:
        self._folder, self.done, self._input, self._comm = folder, done, input, comm

    def keep(self, task: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Collective. Write the results of a task; `arrays` counts on rank 0 alone.

        Raises FathometerError on all ranks where that fails; nothing of the task stays then.
        """
        with ledger.file(KIND, "write"), collective_errors(self._comm):
            if self._comm.rank == 0:
                path, content = self._path(task), io.BytesIO()
                np.savez(content, **arrays)  # type: ignore[arg-type]
                content.write(self._hash(task, content.getbuffer()))
                with atomic.writing(path), atomic.Parts() as parts:
                    part = parts.create(atomic.NewFile(path, size=content.tell()))
                    with ledger.io(bytes=content.tell()), part.open("r+b") as file:
                        file.write(content.getbuffer())
                        file.flush()
                        os.fsync(file.fileno())
        self.done.add(task)

    def load(self, task: int) -> dict[str, np.ndarray]:
        """The results of a finished task, on the calling rank. Raises FathometerError where they cannot be read."""
        path = self._path(task)
        with ledger.file(KIND, "read"), reading(path):
            with ledger.io(bytes=path.stat().st_size):
                content = memoryview(path.read_bytes())
            try:
                if self._hash(task, content[:-HASH_BYTES]) != content[-HASH_BYTES:]:
                    raise ValueError("its checksum is wrong")
                with np.load(io.BytesIO(content[:-HASH_BYTES]), allow_pickle=False) as arrays:
                    return {name: arrays[name] for name in arrays.files}
            except (TypeError, ValueError, KeyError, EOFError, BadZipFile) as error:
                raise FathometerError(f"{path}: is damaged: {error}; --overwrite begins anew") from None

    def _hash(self, task: int, content: memoryview) -> bytes:
        return hash_of(self._input.encode(), f" {task} ".encode(), content).encode()

    def drop_damaged(self, shapes_of: Callable[[int], Mapping[str, tuple[int, ...]]]) -> list[int]:
        """Collective. Read what is kept of all tasks; those with anything else than whole arrays of these names and
        shapes are not done any more: their numbers. shapes_of: counts on rank 0 alone."""
        damaged: list[int] = []
        with collective_errors(self._comm):
            if self._comm.rank == 0:
                damaged = [task for task in sorted(self.done) if not self._whole(task, shapes_of(task))]
        damaged = self._comm.bcast(damaged)
        self.done -= set(damaged)
        return damaged

    def _whole(self, task: int, shapes: Mapping[str, tuple[int, ...]]) -> bool:
        try:
            return {name: array.shape for name, array in self.load(task).items()} == shapes
        except FathometerError:
            return False

    def _path(self, task: int) -> Path:
        return self._folder / f"{task:08d}.npz"


@contextmanager
def finished_tasks(
    output: Path, input: Mapping[str, Any], task: str, options: RunOptions, comm: MPI.Intracomm
) -> Iterator[FinishedTasks]:
    """Collective. The finished tasks of an earlier run in this folder of results, or none; locked meanwhile.

    Where the block ends well the folder goes; else it stays, for --resume, if a task is finished.

    Args:
        input: what the results depend on, JSON-ready; of rank 0. task: what a task is, in a word.

    Raises InputError on all ranks: another run is at work; an earlier one is unfinished and the options say nothing of
    it; it was one of another input; the folder is a link, another user's, or holds files and none of them is the mark.
    """
    folder, lock = output / FOLDER, FileLock(output / FOLDER / LOCK)
    done: set[int] = set()
    text, began = sealed({"input": input}, SEAL), False
    try:
        with ledger.phase("set up"):
            with collective_errors(comm):
                if comm.rank == 0:
                    done = _opened(folder, lock, text, task, options)
            done, text = comm.bcast((done, text))
        began = True
        yield FinishedTasks(folder, done, hash_of(text.encode()), comm)
    except BaseException:
        # A signal may come between the moment when a task's file is complete and the one when `done` says so.
        if comm.rank == 0 and lock.held and began and not _kept(folder):
            _remove(folder)
        raise
    else:
        if comm.rank == 0:
            with ledger.phase("finish"):
                _remove(folder)
    finally:
        with ledger.phase("finish"):
            lock.close()


def _opened(folder: Path, lock: FileLock, text: str, task: str, options: RunOptions) -> set[int]:
    """Numbers of the tasks that are finished already, on one rank. text: of the file of what the results depend on."""
    _require_own_tasks(folder)
    if not lock.acquire():
        holder = lock.read() or "another run"
        raise InputError(f"{folder.parent}: is in use by {holder}; allowed: one run at a time")
    require_own_lock(lock)
    lock.write(this_process())
    atomic.remove_parts(folder, OWN)
    path, done = folder / FILE, _kept(folder)
    if options.overwrite or not done:
        _remove(folder, but=lock.path)
        atomic.write(path, text.encode())
        return set()
    if not options.resume:
        raise InputError(
            f"{folder.parent}: holds an unfinished run; --resume goes on after its last {task}, --overwrite begins anew"
        )
    try:
        before = unsealed(path.read_text(encoding="utf-8"), SEAL)["input"]
    except BrokenSealError as error:
        raise FathometerError(f"{path}: is damaged: {error}; --overwrite begins anew") from None
    except (OSError, ValueError):
        raise FathometerError(f"{path}: cannot be read; --overwrite begins anew") from None
    changed = differences(before, unsealed(text, SEAL)["input"])
    if changed:
        raise InputError(f"{folder.parent}: holds a run of another input: {changed[0]}; --overwrite begins anew")
    return done


def _require_own_tasks(folder: Path) -> None:
    """Raises InputError, with nothing touched, where a folder holds something, but no finished tasks; as `require_own`,
    too."""
    require_own(folder)
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    others = [name for name in names if name != LOCK and not UNFINISHED.fullmatch(name)]
    if others and not MARK.on(folder):  # which another run may just have made: looked at last
        other = FILE if FILE in others else others[0]
        raise InputError(
            f"{folder / other}: is none of the finished tasks of this program, and nothing in that folder is replaced "
            "or removed; allowed: another [output] directory, or without that folder"
        )


def _kept(folder: Path) -> set[int]:
    """Numbers of the tasks whose files are complete."""
    return {int(name[1]) for file in folder.glob("*.npz") if (name := NAME.fullmatch(file.name))}


def _remove(folder: Path, but: Path | None = None) -> None:
    """Remove what is ours in the folder, the mark last, and the folder where nothing else is left; under the lock."""
    atomic.remove_parts(folder, OWN)
    if MARK.on(folder):
        for path in list(folder.iterdir()):
            if NAME.fullmatch(path.name):
                remove_file(path)
        remove_file(folder / FILE)
    if but is None:
        remove_file(folder / LOCK)
        remove_empty(folder)
