"""The model: vertical P velocity, epsilon and delta, from their files to this rank's cells, checked.

Each rank reads the part that it owns; the padding around the model repeats the model's outermost cells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import InputError, naming
from fathometer.grid.grid import Grid, Vector
from fathometer.grid.stencil import largest_eigenvalue, time_step_limit
from fathometer.parallel.collectives import allreduce
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.seismic.survey import Survey
from fathometer.storage.volumes.reader import SharedVolume
from fathometer.storage.volumes.registry import format_of
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import Volume, open_volume

if TYPE_CHECKING:
    from mpi4py import MPI

# Outside these ranges a unit is wrong rather than a rock strange.
SLOWEST, FASTEST = 300.0, 9000.0  # m/s
THOMSEN = (-0.5, 2.0)  # epsilon and delta, the lower end excluded
CELLS = (1e-6, 1e6)  # m, spacing
FARTHEST = 1e9  # m, origin: beyond, cells are no longer told apart, nor written into SEG-Y headers
AXIS_OF_LABEL = {"x": "x", "y": "y", "z": "z", "depth": "z"}
NAMES = ("vp", "epsilon", "delta")
MOST_ROWS = 4096  # of a sample


@dataclass(frozen=True)
class Earth:
    """The model on this rank's cells, padding included, and what the whole model says.

    Attributes:
        vp, epsilon, delta: float32 [x, y, z], m/s and Thomsen's parameters; epsilon and delta are None where the model
            is isotropic.
        slowest: the lowest phase velocity near the vertical, m/s; fastest: the highest horizontal one.
        eigenvalue: the largest of the space operator, 1/s^2 (stencil.largest_eigenvalue).
    """

    vp: np.ndarray
    epsilon: np.ndarray | None
    delta: np.ndarray | None
    slowest: float
    fastest: float
    eigenvalue: float

    @property
    def time_step_limit(self) -> float:
        """Largest stable dt, s."""
        return time_step_limit(self.eigenvalue)


class EarthFiles:
    """The model's files, open, agreeing on one grid."""

    def __init__(self, survey: Survey, headers_only: bool = False) -> None:
        """Raises InputError where a file is missing, or shapes, spacings or origins contradict each other.

        headers_only: an RSF header will do, its values may be missing.
        """
        self._keys = survey.model
        self._strategy = Strategy.of(survey.storage.read)
        self._weights = survey.propagation.space_weights
        self._name = str(survey.path)
        self._volumes: dict[str, Volume] = {}
        for name in NAMES:
            value = getattr(self._keys, name)
            if isinstance(value, str):
                with naming(f"{self._name}: [model] {name}"):
                    self._volumes[name] = open_volume(value, survey.directory, headers_only)
        if not self._volumes:
            raise InputError(
                f"{self._name}: [model]: vp, epsilon and delta are all numbers; "
                "needed: at least one file, which gives the grid its size"
            )
        self.axes = self._axes()
        self.grid = self._grid()

    @property
    def paths(self) -> list[Path]:
        """The files, in the order of NAMES."""
        return [volume.path for volume in self._volumes.values()]

    @property
    def bytes_per_cell(self) -> int:
        """Bytes of a cell in all files together."""
        return sum(volume.info.dtype.itemsize for volume in self._volumes.values())

    @property
    def dimension(self) -> int:
        return len(self.axes)

    @property
    def isotropic(self) -> bool:
        """Whether neither epsilon nor delta is given (or both are the number 0)."""
        return not any(isinstance(v, str) or v != 0 for v in (self._keys.epsilon, self._keys.delta))

    def _axes(self) -> str:
        first, volume = next(iter(self._volumes.items()))
        shape = volume.info.shape
        for name, other in self._volumes.items():
            if other.info.shape != shape:
                raise InputError(
                    f"{self._name}: [model] {name}: {other.path} has {_times(other.info.shape)} cells, "
                    f"{first} ({volume.path}) has {_times(shape)}; allowed: the same shape"
                )
        axes = self._keys.axes or ("xyz" if len(shape) == 3 else "xz")
        if len(axes) != len(shape):
            raise InputError(
                f'{self._name}: [model] axes: found "{axes}", {len(axes)} axes; '
                f"{volume.path} has {len(shape)}: {_times(shape)} cells"
            )
        for other in self._volumes.values():
            told = "".join(AXIS_OF_LABEL.get(label.strip().lower(), "?") for label in other.info.labels or "?")
            if "?" not in told and told != axes:
                found = "found" if self._keys.axes else "left out, which means"
                raise InputError(
                    f'{self._name}: [model] axes: {found} "{axes}", but {other.path} labels its axes "{told}", '
                    "slowest first; allowed: the same in both"
                )
        return axes

    def _grid(self) -> Grid:
        volume = next(iter(self._volumes.values()))
        cells = dict(zip(self.axes, volume.info.shape, strict=True))
        spacing, origin = self._metres("spacing"), self._metres("origin")
        if spacing is None:
            raise InputError(
                f"{self._name}: [model] spacing: missing; needed, since {volume.path} carries none "
                f"(m, for {', '.join(a for a in 'xyz' if a in self.axes)})"
            )
        for name, count in cells.items():
            if count < 2:
                raise InputError(
                    f"{self._name}: [model]: {volume.path} has {_times(volume.info.shape)} cells, one along {name}; "
                    "allowed: two or more along each axis; a 2D model has two axes, x and z"
                )
        shape: Index3 = (cells["x"], cells.get("y", 1), cells["z"])
        grid = Grid(shape, spacing, origin or (0.0, 0.0, 0.0))
        for axis in grid.axes:
            if not CELLS[0] <= grid.spacing[axis] <= CELLS[1]:
                raise InputError(
                    f"{self._name}: [model] spacing: found {grid.spacing[axis]:g} m along {'xyz'[axis]}; "
                    f"allowed: {CELLS[0]:g} to {CELLS[1]:g} m"
                )
            if not abs(grid.origin[axis]) <= FARTHEST:
                raise InputError(
                    f"{self._name}: [model] origin: found {grid.origin[axis]:g} m along {'xyz'[axis]}; "
                    f"allowed: {-FARTHEST:g} to {FARTHEST:g} m"
                )
        return grid

    def _metres(self, what: str) -> Vector | None:
        """Spacing or origin (x, y, z) from the survey and the files, which must not contradict each other."""
        names = [axis for axis in "xyz" if axis in self.axes]
        found: dict[str, float] | None = None
        source = ""
        given = getattr(self._keys, what)
        if given is not None:
            if len(given) != len(names):
                raise InputError(
                    f"{self._name}: [model] {what}: found {len(given)} values; needed: {len(names)}, for "
                    f"{', '.join(names)}, since the model is {len(names)}D"
                )
            found, source = dict(zip(names, given, strict=True)), "the survey"
        for volume in self._volumes.values():
            carried = getattr(volume.info, what)
            if carried is None:
                continue
            values = dict(zip(self.axes, carried, strict=True))
            if found is None:
                found, source = values, str(volume.path)
                continue
            for axis in names:
                if not math.isclose(values[axis], found[axis], rel_tol=1e-4, abs_tol=1e-6):
                    raise InputError(
                        f"{self._name}: [model] {what}: {volume.path} says {values[axis]:g} m along {axis}, "
                        f"{source} says {found[axis]:g} m; is [model] axes right?"
                    )
        if found is None:
            return None
        # Two-dimensional models have one y plane; its spacing never enters.
        x, y, z = (found.get(axis, found["x"] if what == "spacing" else 0.0) for axis in "xyz")
        return x, y, z

    def read(self, grid: Grid, block: Decomposition, radius: int, comm: MPI.Intracomm) -> Earth:
        """Collective. This rank's part of the model on the padded grid.

        Raises InputError, the same on all ranks: NaN, infinity or velocities that suggest another unit (how many cells,
        where), epsilon < delta (how many, the worst and where), a file that cannot be read.
        """
        arrays = self.parts(grid, block, comm)
        x, y, z = (slice(lo, hi) for lo, hi in zip(*grid.local_box(block), strict=True))
        own: Box = (x, y, z)
        for name, values in arrays.items():
            self._check_finite(name, values, own, grid, block, comm)
        self._check_velocity(arrays["vp"], own, grid, block, comm)
        vp, epsilon, delta = (arrays.get(name) for name in NAMES)
        assert vp is not None
        if epsilon is not None and delta is not None:
            self._check_thomsen(epsilon, delta, own, grid, block, comm)
        slowest, fastest, eigenvalue = extremes(vp, epsilon, delta, grid, radius, self._weights)
        return Earth(
            vp,
            epsilon,
            delta,
            allreduce(comm, slowest, "MIN"),
            allreduce(comm, fastest, "MAX"),
            allreduce(comm, eigenvalue, "MAX"),
        )

    def parts(self, grid: Grid, block: Decomposition, comm: MPI.Intracomm) -> dict[str, np.ndarray]:
        """Collective. vp (m/s), and epsilon and delta where the model is VTI, float32 [x, y, z] on the block's cells,
        as they are in the files."""
        return {name: self._part(name, grid, block, comm) for name in (NAMES[:1] if self.isotropic else NAMES)}

    def vp(self, lo: Sequence[int], hi: Sequence[int]) -> np.ndarray:
        """vp float32 [x, y, z], m/s, of the model's cells lo to hi (half-open)."""
        return self._cells("vp", list(zip(lo, hi, strict=True)))

    def sample(self) -> tuple[list[np.ndarray], str]:
        """vp (m/s), epsilon and delta, float32 (rows, 1, cells), of some rows of the model, spread over it, and how
        many these are, in words. An isotropic model has vp alone. InputError where they cannot be read; nothing else
        is checked."""
        slow = next(iter(self._volumes.values())).info.shape[:-1]
        most = MOST_ROWS if len(slow) == 1 else math.isqrt(MOST_ROWS)
        places = [np.unique(np.linspace(0, n - 1, min(n, most)).astype(int)).tolist() for n in slow]
        rows, total = list(itertools.product(*places)), math.prod(slow)
        found = [self._rows(name, rows) for name in NAMES[: 1 if self.isotropic else 3]]
        told = "the whole model" if len(rows) == total else f"{len(rows)} of {total} rows of the model"
        return list(np.broadcast_arrays(*found)), told

    def _rows(self, name: str, rows: list[tuple[int, ...]]) -> np.ndarray:
        """float32 (rows, 1, cells) along the files' fastest axis, or (1, 1, 1) of a number."""
        value = getattr(self._keys, name)
        if not isinstance(value, str):
            return np.full((1, 1, 1), self._in_units(name, np.float32(value)), np.float32)
        volume = self._volumes[name]
        cells = volume.info.shape[-1]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            read = [volume.read([*row, 0], [*(n + 1 for n in row), cells]).reshape(1, cells) for row in rows]
            return np.asarray(self._in_units(name, np.array(read)), np.float32)

    def _part(self, name: str, grid: Grid, block: Decomposition, comm: MPI.Intracomm) -> np.ndarray:
        """Collective. float32 [x, y, z] on the block's cells: read where they are the model's, repeated around it."""
        ranges, before, after = [], [], []
        for lo, hi, n, (pad, _), first in zip(block.lo, block.hi, grid.shape, grid.pad, grid.first, strict=True):
            a = min(max(lo - pad, 0), n - 1)
            b = max(min(hi - pad, n), a + 1)
            ranges.append((first + a, first + b))
            before.append(min(max(a - (lo - pad), 0), hi - lo - 1))
            after.append((hi - lo) - (b - a) - before[-1])
        own = math.prod(hi - lo for lo, hi in zip(*grid.model_box(block), strict=True))
        share = own / math.prod(b - a for a, b in ranges) if self._strategy.overlaps else 1.0
        with ledger.file("model", "read", own=share):
            cells = self._cells(name, ranges, comm)
        return np.pad(cells, list(zip(before, after, strict=True)), mode="edge")

    def _cells(self, name: str, ranges: Sequence[tuple[int, int]], comm: MPI.Intracomm | None = None) -> np.ndarray:
        """float32 [x, y, z] of the model's cells in these ranges (half-open, x, y, z).

        Collective where ranks are given, which read by the survey's strategy.
        """
        shape = [b - a for a, b in ranges]
        value = getattr(self._keys, name)
        if not isinstance(value, str):
            return np.full(shape, self._in_units(name, np.float32(value)), np.float32)
        box = dict(zip("xyz", ranges, strict=True))
        lo, hi = ([box[axis][end] for axis in self.axes] for end in (0, 1))
        if comm is None:
            raw = self._volumes[name].read(lo, hi)
        else:
            with self._shared(name, comm) as shared:
                raw = shared.read(lo, hi)
        order = [self.axes.index(axis) for axis in "xyz" if axis in self.axes]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # found by the checks
            return np.asarray(self._in_units(name, raw.transpose(order).reshape(shape)), np.float32)

    def _shared(self, name: str, comm: MPI.Intracomm) -> SharedVolume:
        volume = self._volumes[name]
        with naming(f"{self._name}: [storage] read"):
            format_of(volume.path).chosen(volume.path, self._strategy, "read", comm.size)
        return SharedVolume(volume, comm, self._strategy)

    def _in_units(self, name: str, values: Any) -> Any:
        if name != "vp" or self._keys.units == "m/s":
            return values
        return 1000 * values if self._keys.units == "km/s" else 1000 / np.sqrt(values)

    def _source(self, name: str) -> str:
        volume = self._volumes.get(name)
        return f"[model] {name} ({volume.path})" if volume else f"[model] {name}"

    def _check_finite(
        self, name: str, values: np.ndarray, own: Box, grid: Grid, block: Decomposition, comm: MPI.Intracomm
    ) -> None:
        bad = ~np.isfinite(values[own])
        count, first = _count_and_first(bad, None, own, grid, block, comm)
        if count:
            squared = name == "vp" and self._keys.units == "s2/km2"
            also = " (or a slowness squared that is not positive)" if squared else ""
            raise InputError(
                f"{self._name}: {self._source(name)}: NaN or infinity{also} in {count} of "
                f"{math.prod(grid.shape)} cells, first at {first}; allowed: finite numbers"
            )

    def _check_velocity(self, vp: np.ndarray, own: Box, grid: Grid, block: Decomposition, comm: MPI.Intracomm) -> None:
        part = vp[own]
        low = allreduce(comm, float(part.min(initial=np.inf)), "MIN")
        high = allreduce(comm, float(part.max(initial=-np.inf)), "MAX")
        count, first = _count_and_first((part < SLOWEST) | (part > FASTEST), None, own, grid, block, comm)
        if count:
            raise InputError(
                f"{self._name}: {self._source('vp')}: {count} of {math.prod(grid.shape)} cells lie outside {SLOWEST:g} "
                f"to {FASTEST:g} m/s (from {low:g} to {high:g} m/s when read as {self._keys.units}), first at "
                f'{first}; is [model] units = "{self._keys.units}" right? allowed: "m/s", "km/s", "s2/km2"'
            )

    def _check_thomsen(
        self,
        epsilon: np.ndarray,
        delta: np.ndarray,
        own: Box,
        grid: Grid,
        block: Decomposition,
        comm: MPI.Intracomm,
    ) -> None:
        for name, values in (("epsilon", epsilon), ("delta", delta)):
            part, (low, high) = values[own], THOMSEN
            count, first = _count_and_first((part <= low) | (part > high), None, own, grid, block, comm)
            if count:
                raise InputError(
                    f"{self._name}: {self._source(name)}: {count} of {math.prod(grid.shape)} cells lie outside "
                    f"{low:g} to {high:g}, first at {first}; allowed: above {low:g}, up to {high:g}, as fractions, "
                    "not percent"
                )
        deficit = delta[own] - epsilon[own]
        count, worst = _count_and_first(deficit > 0, deficit, own, grid, block, comm)
        if count:
            largest = allreduce(comm, float(deficit.max(initial=0.0)), "MAX")
            raise InputError(
                f"{self._name}: {self._source('epsilon')}: epsilon < delta in {count} of "
                f"{math.prod(grid.shape)} cells, worst by {largest:.4g} at {worst}; "
                "there the wave equation itself has growing solutions; allowed: epsilon >= delta"
            )


Box = tuple[slice, slice, slice]


def _times(shape: Sequence[int]) -> str:
    return " x ".join(str(n) for n in shape)


def _count_and_first(
    bad: np.ndarray, weight: np.ndarray | None, own: Box, grid: Grid, block: Decomposition, comm: MPI.Intracomm
) -> tuple[int, str]:
    """Collective. Number of bad cells, and the place of the first (or of the one of largest weight), in words."""
    count = allreduce(comm, int(bad.sum()), "SUM")
    if not count:
        return 0, ""
    here: tuple[float, tuple[int, ...]] | None = None
    if bad.any():
        flat = int(np.argmax(bad if weight is None else np.where(bad, weight, -np.inf)))
        cell = tuple(
            int(i) + s.start + lo - pad
            for i, s, lo, (pad, _) in zip(np.unravel_index(flat, bad.shape), own, block.lo, grid.pad, strict=True)
        )
        here = (0.0 if weight is None else -float(weight.flat[flat]), cell)
    with ledger.communication():
        _, cell = min(found for found in comm.allgather(here) if found is not None)
    place = [
        f"{axis} = {o + c * d:g} m"
        for axis, o, c, d in zip("xyz", grid.origin, cell, grid.spacing, strict=True)
        if not (axis == "y" and grid.two_dimensional)
    ]
    return count, ", ".join(place)


def extremes(
    vp: np.ndarray, epsilon: np.ndarray | None, delta: np.ndarray | None, grid: Grid, radius: int, weights: str
) -> tuple[float, float, float]:
    """Slowest, fastest and largest eigenvalue, plane by plane: in float64 without copies of the grid in float64."""
    slowest, fastest, eigenvalue = np.inf, 0.0, 0.0
    for i in range(vp.shape[0]):
        plane = vp[i].astype(np.float64)
        e = np.zeros_like(plane) if epsilon is None else epsilon[i].astype(np.float64)
        d = np.zeros_like(plane) if delta is None else delta[i].astype(np.float64)
        slowest = min(slowest, float((plane * np.sqrt(1 + 2 * np.minimum(d, 0))).min()))
        fastest = max(fastest, float((plane * np.sqrt(1 + 2 * e)).max()))
        eigenvalue = max(
            eigenvalue, float(largest_eigenvalue(plane, e, d, grid.stencil_spacing, radius, weights).max())
        )
    return slowest, fastest, eigenvalue
