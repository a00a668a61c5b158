"""Folder of restart files: the newest complete state of a run, from which --resume goes on with the same bits.

    out/restart/restart.json      what of the run is no array, and in which folder its arrays lie
    out/restart/00000120/…        arrays, written by the application
    out/restart/steps.jsonl       a line for each state that was written, by which a batch job sees that it gets on

restart.json is replaced when all arrays of a state are on disk, and the arrays of the one before go then.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.collectives import collective_errors
from fathometer.runs.fingerprint import differences
from fathometer.storage import atomic

FOLDER, FILE, LINES, VERSION = "restart", "restart.json", "steps.jsonl", 1
KIND = "restart"  # of file, in the account


def has_state(output: Path) -> bool:
    """Whether a run has left a state in its folder of results."""
    return (output / FOLDER / FILE).exists()


class RestartFolder:
    """The restart files of a run; methods are collective.

    Args:
        output: folder of the results. input: what of the input the states depend on, JSON-ready.
        keys: of what a state has beside its arrays; "steps" and "time" (s) are among them.
    """

    def __init__(self, output: Path, input: Mapping[str, Any], keys: Collection[str], comm: MPI.Intracomm) -> None:
        self._folder, self._input, self._keys, self._comm = output / FOLDER, input, tuple(keys), comm

    def write(self, values: Mapping[str, Any], save: Callable[[Path], None]) -> None:
        """Write a state: its values by key, JSON-ready; save: writes the arrays into a folder, collectively.

        Raises FathometerError where it cannot be written; the state before stays then.
        """
        folder = self._folder / f"{values['steps']:08d}"
        with collective_errors(self._comm):
            if self._comm.rank == 0:
                with atomic.writing(folder):
                    folder.mkdir(parents=True, exist_ok=True)
        with ledger.file(KIND, "write"):
            save(folder)
        with collective_errors(self._comm):
            if self._comm.rank == 0:
                state = {"version": VERSION, "input": self._input, "folder": folder.name, **values}
                atomic.write(self._folder / FILE, (json.dumps(state, indent=1) + "\n").encode())
                with (self._folder / LINES).open("a") as lines:
                    lines.write(json.dumps({"steps": values["steps"], "time": values["time"]}) + "\n")
                for other in self._folder.iterdir():
                    if other.is_dir() and other.name != folder.name and other.name.isdigit():
                        shutil.rmtree(other, ignore_errors=True)

    def read(self, load: Callable[[Path], None]) -> dict[str, Any] | None:
        """The values of the newest state; load: reads the arrays of a folder, on each rank. None where there is none.

        Raises InputError where it is of another input, FathometerError where it is damaged.
        """
        values: dict[str, Any] | None = None
        with collective_errors(self._comm):
            if self._comm.rank == 0 and (self._folder / FILE).exists():
                values = self._checked()
        values = self._comm.bcast(values)
        if values is None:
            return None
        with collective_errors(self._comm), ledger.file(KIND, "read"):
            load(self._folder / values["folder"])
        return {key: values[key] for key in self._keys}

    def remove(self) -> None:
        """Remove all states; what else lies in their folder stays."""
        if self._comm.rank == 0 and self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name in (FILE, LINES):
                    atomic.remove(path)
                elif path.is_dir() and path.name.isdigit():
                    shutil.rmtree(path, ignore_errors=True)
        self._comm.barrier()

    def _checked(self) -> dict[str, Any]:
        path = self._folder / FILE
        try:
            values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            missing = [key for key in (*self._keys, "input", "folder") if key not in values]
            if values["version"] != VERSION or missing:
                raise KeyError
        except (OSError, ValueError, LookupError, TypeError):
            raise FathometerError(f"{path}: cannot be read; --overwrite begins anew") from None
        changed = differences(values["input"], json.loads(json.dumps(self._input)))
        if changed:
            raise InputError(f"{path}: is of another input: {changed[0]}; --overwrite begins anew")
        return values
