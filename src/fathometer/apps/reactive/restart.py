"""Restart files: the state of a flow after some steps, from which --resume goes on with the same bits.

    out/restart/restart.json        the newest complete state: time, steps, and where its arrays lie
    out/restart/00000120/u-0.rsf    ln of the molality of the first primary species, float64
    out/restart/00000120/m-0.rsf    the first mineral, mol per m³ of bulk
    out/restart/steps.jsonl         a line for each state that was written, by which a batch job sees that it gets on

restart.json is replaced when all arrays of a state are on disk, and the arrays of the one before go then.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.apps.reactive.chemistry.system import Floats
from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.runs.fingerprint import differences
from fathometer.storage import atomic
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.volume import open_volume, write_volume

FOLDER, FILE, LINES, VERSION = "restart", "restart.json", "steps.jsonl", 1
KIND = "restart"  # of file, in the account
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Progress:
    """What of a run is in its restart file, beside the arrays.

    Attributes:
        time: s. steps: taken. stepping: state of the choice of steps. times: of results that are written, s.
        counts: sums over all steps. outflow: moles of each component that have left through the sides.
        moles: of each component at the beginning.
    """

    time: float
    steps: int
    stepping: Mapping[str, Any]
    times: Sequence[float]
    counts: Mapping[str, float]
    outflow: Sequence[float]
    moles: Sequence[float]


class RestartFiles:
    """The restart files of a run; methods are collective.

    Args:
        output: folder of the results. input: what of the input the states depend on, JSON-ready. shape: cells.
        lo: first cell of this rank's block.
    """

    def __init__(
        self, output: Path, input: Mapping[str, Any], shape: Index3, lo: Sequence[int], comm: MPI.Intracomm
    ) -> None:
        self._folder, self._input, self._shape, self._lo, self._comm = output / FOLDER, input, shape, tuple(lo), comm

    def write(self, progress: Progress, ln_c: Floats, minerals: Floats) -> None:
        """Write a state: ln_c (x, y, z, n), minerals (x, y, z, k), of this rank's block.

        Raises FathometerError where it cannot be written; the state before stays then.
        """
        folder = self._folder / f"{progress.steps:08d}"
        with collective_errors(self._comm):
            if self._comm.rank == 0:
                with atomic.writing(folder):
                    folder.mkdir(parents=True, exist_ok=True)
        info = VolumeInfo(self._shape, np.dtype(np.float64), None, None, AXES, None)
        with ledger.file(KIND, "write"):
            for name, values in _arrays(ln_c, minerals):
                write_volume(folder / name, info, values, self._lo, self._comm)
        with collective_errors(self._comm):
            if self._comm.rank == 0:
                state = {"version": VERSION, "input": self._input, "folder": folder.name} | asdict(progress)
                atomic.write(self._folder / FILE, (json.dumps(state, indent=1) + "\n").encode())
                with (self._folder / LINES).open("a") as lines:
                    lines.write(json.dumps({"steps": progress.steps, "time": progress.time}) + "\n")
                for other in self._folder.iterdir():
                    if other.is_dir() and other.name != folder.name and other.name.isdigit():
                        shutil.rmtree(other, ignore_errors=True)

    def read(self, ln_c: Floats, minerals: Floats) -> Progress | None:
        """The newest state, its arrays into this rank's blocks; None where there is none.

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
            for name, block in _arrays(ln_c, minerals, copy=False):
                hi = [start + n for start, n in zip(self._lo, block.shape, strict=True)]
                with open_volume(name, self._folder / values["folder"]) as volume:
                    if volume.info.shape != self._shape or volume.info.dtype.itemsize != 8:
                        raise FathometerError(f"{volume.path}: is not of this flow; --overwrite begins anew")
                    block[...] = volume.read(self._lo, hi)
        return Progress(**{key: values[key] for key in Progress.__dataclass_fields__})

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
            missing = [key for key in (*Progress.__dataclass_fields__, "input", "folder") if key not in values]
            if values["version"] != VERSION or missing:
                raise KeyError
        except (OSError, ValueError, LookupError, TypeError):
            raise FathometerError(f"{path}: cannot be read; --overwrite begins anew") from None
        changed = differences(values["input"], json.loads(json.dumps(self._input)))
        if changed:
            raise InputError(f"{path}: is of another input: {changed[0]}; --overwrite begins anew")
        return values


def _arrays(ln_c: Floats, minerals: Floats, copy: bool = True) -> list[tuple[str, Floats]]:
    """The arrays of a state with their files' names."""
    found = []
    for letter, values in (("u", ln_c), ("m", minerals)):
        for number in range(values.shape[-1]):
            part = values[..., number]
            found.append((f"{letter}-{number}.rsf", np.ascontiguousarray(part) if copy else part))
    return found
