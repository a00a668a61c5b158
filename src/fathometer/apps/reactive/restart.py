"""Restart files of a flow: see runs/restart_folder.py.

out/restart/00000120/u-0.rsf    ln of the molality of the first primary species, float64
out/restart/00000120/m-0.rsf    the first mineral, mol per m³ of bulk
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.apps.reactive.chemistry.system import Floats
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.runs.checksum import checksum, checksum_of_bytes
from fathometer.runs.restart_folder import RestartFolder, Sums
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.volume import open_volume, write_volume

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
        self._states = RestartFolder(output, input, Progress.__dataclass_fields__, comm)
        self._shape, self._lo, self._comm = shape, tuple(lo), comm

    def write(self, progress: Progress, ln_c: Floats, minerals: Floats) -> None:
        """Write a state: ln_c (x, y, z, n), minerals (x, y, z, k), of this rank's block.

        Raises FathometerError where it cannot be written; the state before stays then.
        """
        info = VolumeInfo(self._shape, np.dtype(np.float64), None, None, AXES, None)

        def save(folder: Path) -> Sums:
            sums: dict[str, int] = {}
            for name, values in _arrays(ln_c, minerals):
                write_volume(folder / name, info, values, self._lo, self._comm)
                with collective_errors(self._comm):
                    sums |= self._sums(folder / name, values)
            return sums

        self._states.write(asdict(progress), save)

    def _sums(self, path: Path, values: np.ndarray) -> dict[str, int]:
        """The checksum of this rank's block of values; on rank 0 that of the header too."""
        sums = {f"{path.name}@": checksum(values, self._shape, self._lo)}
        return sums if self._comm.rank else sums | {path.name: checksum_of_bytes([path.read_bytes()])}

    def read(
        self,
        ln_c: Floats,
        minerals: Floats,
        written: Callable[[Sequence[float]], None] = lambda times: None,
        steps: int | None = None,
    ) -> Progress | None:
        """The newest state, or that after so many steps, its arrays into this rank's blocks; None where there is none.
        written: raises FathometerError where results at one of the times are missing.

        Raises InputError where it is of another input, FathometerError where it is damaged; as RestartFolder.read.
        """

        def load(folder: Path) -> Sums:
            sums: dict[str, int] = {}
            for name, block in _arrays(ln_c, minerals, copy=False):
                hi = [start + n for start, n in zip(self._lo, block.shape, strict=True)]
                with open_volume(name, folder) as volume:
                    if volume.info.shape != self._shape or volume.info.dtype.itemsize != 8:
                        raise FathometerError(f"{volume.path}: is not of this flow")
                    values = volume.read(self._lo, hi)
                block[...] = values
                sums |= self._sums(folder / name, values)
            return sums

        values = self._states.read(load, lambda values: written(values["times"]), steps)
        return None if values is None else Progress(**values)

    def remove(self) -> None:
        """Remove all states; what else lies in their folder stays."""
        self._states.remove()


def _arrays(ln_c: Floats, minerals: Floats, copy: bool = True) -> list[tuple[str, Floats]]:
    """The arrays of a state with their files' names."""
    found = []
    for letter, values in (("u", ln_c), ("m", minerals)):
        for number in range(values.shape[-1]):
            part = values[..., number]
            found.append((f"{letter}-{number}.rsf", np.ascontiguousarray(part) if copy else part))
    return found
