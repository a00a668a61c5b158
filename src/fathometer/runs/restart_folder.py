"""Folder of restart files: the two newest complete states of a run, from which --resume goes on with the same bits.

    out/restart/restart.json          of the newest state: what is no array, where its arrays lie, their checksums
    out/restart/restart-before.json   the same of the state before it
    out/restart/00000120/…            arrays, written by the application, and mark.json, by which the folder is known
    out/restart/steps.jsonl           a line for each state that was written, by which a batch job sees that it gets on

restart.json is replaced when all arrays of a state are on disk, and what no description names any more goes then. A
state counts where all of it is what was written: its description byte by byte (seal.py), of its files the values and
the bytes around them, and the results that it follows. One that does not is refused, and the one before it offered.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import Mark, remove_file, remove_tree
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.record.envelope import plain
from fathometer.runs.checksum import MODULUS
from fathometer.runs.fingerprint import differences
from fathometer.runs.restart_hint import BEFORE, BEGINS, FILE, FOLDER, has_state
from fathometer.runs.seal import BrokenSealError, Kind, sealed, unsealed
from fathometer.storage import atomic

LINES = "steps.jsonl"
MARK = Mark("mark.json", BEGINS)  # of a folder of arrays: there before any of them
BEGINS_LINES = b'{"steps": '
STATES = re.compile(r"\d{8,}")  # names of folders of arrays
OWN = re.compile(rf"{re.escape(FILE)}|{re.escape(BEFORE)}")
KIND = "restart"  # of file, in the account
SEAL = Kind("restart", 3)

# Checksums of what this rank has written or read, by the name below the state's folder: those of arrays add up over
# ranks; of the bytes around the values of a file rank 0 alone has one.
Sums = Mapping[str, int]


@dataclass(frozen=True)
class _State:
    """A state that is described. folder: of its arrays. sums: their checksums, of all ranks. text: of its description,
    on rank 0. values: what it has beside arrays, where it was read."""

    folder: str
    sums: Mapping[str, int]
    text: str
    values: Mapping[str, Any]


def require_own_states(output: Path) -> None:
    """Raises InputError, with nothing touched, where a file in the folder of states bears the name of one of ours and
    is none. Where another description begins as ours do, one that does not is damaged."""
    folder = output / FOLDER
    names = [] if has_state(output) else [FILE, BEFORE]
    found = [name for name in names if os.path.lexists(folder / name)]
    if os.path.lexists(folder / LINES) and not _begins(folder / LINES):
        found.append(LINES)
    if found:
        raise InputError(
            f"{folder / found[0]}: is none of the restart files of this program, and nothing in that folder is "
            "replaced or removed; allowed: another [output] directory, or without that folder"
        )


def _begins(path: Path) -> bool:
    """Whether the list of states begins as ours do; it may be empty."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return BEGINS_LINES.startswith(file.read(len(BEGINS_LINES)))
    except OSError:
        return False


class RestartFolder:
    """The restart files of a run; methods are collective.

    Args:
        output: folder of the results. input: what of the input the states depend on, JSON-ready.
        keys: of what a state has beside its arrays; "steps" and "time" (s) are among them.
    """

    def __init__(self, output: Path, input: Mapping[str, Any], keys: Collection[str], comm: MPI.Intracomm) -> None:
        self._folder, self._input, self._keys, self._comm = output / FOLDER, input, tuple(keys), comm
        self._kept: list[_State] = []  # those that this run has written or gone on from, and before; the newest first

    def write(self, values: Mapping[str, Any], save: Callable[[Path], Sums]) -> None:
        """Write a state: its values by key, JSON-ready; save: writes the arrays into a folder, collectively.

        All results that the state follows are on disk. Raises FathometerError where it cannot be written; the states
        before stay then.
        """
        name = f"{values['steps']:08d}"
        if self._kept and self._kept[0].folder == name:
            sums = self._kept[0].sums  # no step was taken since: its arrays are there
        else:
            folder = self._folder / name
            with collective_errors(self._comm):
                if self._comm.rank == 0:
                    with atomic.writing(folder):
                        self._folder.mkdir(parents=True, exist_ok=True)
                        (self._folder / LINES).touch()
                        folder.mkdir(exist_ok=True)
                    self._mark(folder)
            with ledger.file(KIND, "write"):
                sums = self._added(save(folder))
        before = [state for state in self._kept if state.folder != name][:1]
        text = ""
        with collective_errors(self._comm):
            if self._comm.rank == 0:
                text = sealed({"input": self._input, "folder": name, "checksums": sums, **values}, SEAL) + "\n"
                atomic.write(self._folder / FILE, text.encode())
                for state in before:
                    atomic.write(self._folder / BEFORE, state.text.encode())
                with (self._folder / LINES).open("a") as lines:
                    lines.write(json.dumps({"steps": values["steps"], "time": values["time"]}) + "\n")
                self._remove_folders({name, *(state.folder for state in before)})
        self._kept = [_State(name, sums, text, {}), *before]

    def read(
        self,
        load: Callable[[Path], Sums],
        results: Callable[[Mapping[str, Any]], None] = lambda values: None,
        steps: int | None = None,
    ) -> dict[str, Any] | None:
        """The values of the newest state, or of that after so many steps; None where there is none at all.

        Args:
            load: reads the arrays of a folder, on each rank. results: raises FathometerError on rank 0 where one of the
                results is missing that a state of such values follows.

        Raises InputError where it is of another input, or there is no state after `steps`; FathometerError where it is
        damaged, which says whether the one before it is whole.
        """
        found: list[_State | FathometerError] = []
        with collective_errors(self._comm):
            if self._comm.rank == 0:
                found = self._described()
        found = self._comm.bcast(found)
        if not found and steps is None:
            return None
        if self._comm.rank == 0:
            self._tidy(found)
        left = found[self._place_of(steps, found) :]
        state, error = self._tried(left[0], load, results)
        if state is None:
            before = self._tried(left[1], load, results)[0] if len(left) > 1 else None
            if before is None:
                raise FathometerError(f"{error}; there is no other state that is whole; --overwrite begins anew")
            number = before.values["steps"]
            raise FathometerError(
                f"{error}; the state of step {number} before it is whole: --resume-from {number} goes on from there"
            )
        self._kept = [state, *(one for one in left[1:] if isinstance(one, _State))]
        return {key: state.values[key] for key in self._keys}

    def _place_of(self, steps: int | None, found: Sequence[_State | FathometerError]) -> int:
        """Which of the states is the one after so many steps; None: the newest."""
        numbers = [one.values["steps"] if isinstance(one, _State) else None for one in found]
        if steps is None or steps in numbers:
            return 0 if steps is None else numbers.index(steps)
        there = " or ".join(str(number) for number in numbers[::-1] if number is not None) or "none: there is no state"
        raise InputError(f"--resume-from {steps}: found no such state in {self._folder}; allowed: {there}")

    def _tidy(self, found: Sequence[_State | FathometerError]) -> None:
        """On one rank: remove what runs that were killed have left unfinished."""
        atomic.remove_parts(self._folder, OWN)
        states = [one for one in found if isinstance(one, _State)]
        if len(states) == len(found):
            self._remove_folders({one.folder for one in states})

    def remove(self) -> None:
        """Remove all states; what else lies in their folder stays."""
        self._kept = []
        if self._comm.rank == 0:
            for name in (FILE, BEFORE):
                remove_file(self._folder / name)
            atomic.remove_parts(self._folder, OWN)
            self._remove_folders(set())
            remove_file(self._folder / LINES)
        self._comm.barrier()

    def _remove_folders(self, kept: Collection[str]) -> None:
        """On one rank: remove the arrays of all states but those in folders of these names."""
        for path in list(self._folder.iterdir()) if self._folder.is_dir() else ():
            if path.is_dir() and STATES.fullmatch(path.name) and path.name not in kept:
                with suppress(FathometerError):
                    self._mark(path)
                    remove_tree(path, self._folder, MARK)

    def _mark(self, folder: Path) -> None:
        """On one rank: mark a folder of arrays. FathometerError where it holds files and is of no state: of none that
        has left a mark in it, and of none that is in the list of states."""
        with atomic.writing(folder):
            if MARK.on(folder):
                return
            if any(folder.iterdir()) and folder.name not in self._listed():
                raise FathometerError(
                    f"{folder}: holds files, but is of no state that a run of this program has written: nothing in it "
                    "is replaced or removed; allowed: another [output] directory, or without that folder"
                )
        atomic.write(folder / MARK.name, f"{sealed({}, SEAL)}\n".encode())

    def _listed(self) -> set[str]:
        """On one rank: names of the folders of all states that were written."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            lines = (self._folder / LINES).read_text(encoding="utf-8").splitlines()
            return {f"{json.loads(line)['steps']:08d}" for line in lines}
        return set()

    def _added(self, sums: Sums) -> dict[str, int]:
        """Collective. The checksums of all ranks' parts together."""
        found: dict[str, int] = {}
        for of_rank in allgather(self._comm, sums):
            for name, part in of_rank.items():
                found[name] = (found.get(name, 0) + part) % MODULUS
        return found

    def _described(self) -> list[_State | FathometerError]:
        """On one rank: the states, the newest first; of one that cannot be read, why."""
        found: list[_State | FathometerError] = []
        for name in (FILE, BEFORE):
            path = self._folder / name
            if path.exists():
                try:
                    found.append(self._read(path))
                except InputError:
                    raise
                except FathometerError as error:
                    found.append(error)
            elif name == FILE and (self._folder / BEFORE).exists():
                found.append(FathometerError(f"{path}: is missing"))
        return found

    def _read(self, path: Path) -> _State:
        try:
            text = path.read_text(encoding="utf-8")
            values = unsealed(text.removesuffix("\n"), SEAL)
            if not text.endswith("\n") or any(key not in values for key in (*self._keys, "folder", "checksums")):
                raise BrokenSealError("it ends too early")
        except BrokenSealError as error:
            raise FathometerError(f"{path}: is damaged: {error}") from None
        except (OSError, ValueError):
            raise FathometerError(f"{path}: cannot be read") from None
        changed = differences(values["input"], plain(self._input))
        if changed:
            raise InputError(f"{path}: is of another input: {changed[0]}; --overwrite begins anew")
        return _State(values["folder"], values["checksums"], text, values)

    def _tried(
        self,
        state: _State | FathometerError,
        load: Callable[[Path], Sums],
        results: Callable[[Mapping[str, Any]], None],
    ) -> tuple[_State | None, FathometerError | None]:
        """Collective. The state where it is whole, its arrays loaded; else None and what is wrong."""
        if not isinstance(state, _State):
            return None, state
        folder = self._folder / state.folder
        sums: Sums = {}
        try:
            with collective_errors(self._comm):
                if self._comm.rank == 0:
                    results(state.values)
            with collective_errors(self._comm), ledger.file(KIND, "read"):
                sums = load(folder)
        except FathometerError as error:
            return None, error
        found = self._added(sums)
        wrong = sorted(name for name in {*found, *state.sums} if found.get(name) != state.sums.get(name))
        if wrong:
            return None, FathometerError(f"{folder / wrong[0]}: is damaged: its checksum is wrong")
        return state, None
