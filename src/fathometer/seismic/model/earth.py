"""The earth model: vertical P velocity, epsilon and delta, read from files to this rank's cells and checked.

Each rank reads its part of the model; the padding around the model repeats the outermost cells.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import InputError, naming
from fathometer.grid.grid import Grid
from fathometer.grid.stencil import time_step_limit
from fathometer.parallel.collectives import allreduce, collective_errors
from fathometer.parallel.decomposition import Decomposition, split
from fathometer.seismic.model.axes import assumption
from fathometer.seismic.model.axis_order import depth_first, order_note, order_words
from fathometer.seismic.model.checks import ModelChecks
from fathometer.seismic.model.extremes import extremes
from fathometer.seismic.model.file_grid import assumed, file_axes, file_grid
from fathometer.seismic.model.placement import placement_of, unused_places, world_of_keys
from fathometer.seismic.model.property_units import factor_of, per_cent_note
from fathometer.seismic.model.silent_files import silent_notes
from fathometer.seismic.model.velocity_units import hard_note, metres_per_second, unit_doubt, unit_notes, units_of
from fathometer.seismic.model.weak_epsilon import WeakEpsilon, strengthened
from fathometer.seismic.survey import Survey
from fathometer.seismic.survey.model import PROPERTIES
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.place import Place, World
from fathometer.storage.volumes.reader import SharedVolume
from fathometer.storage.volumes.registry import format_to_read
from fathometer.storage.volumes.strategy import ROOT, Strategy
from fathometer.storage.volumes.volume import Volume, open_volume

if TYPE_CHECKING:
    from mpi4py import MPI

NAMES = PROPERTIES["acoustic"]
VELOCITIES = ("vp", "vs")
WHOLE = "the whole model"  # as a sample of it
PIECE = 1 << 22  # cells that a rank looks at, at a time
MOST_ROWS = 4096  # rows along the fastest axis in a sample of the model


@dataclass(frozen=True)
class Earth:
    """The model on this rank's cells, padding included, and extremes of the whole model.

    Attributes:
        vp, epsilon, delta: float32 [x, y, z], m/s and Thomsen's parameters; epsilon and delta are None where the model
            is isotropic.
        slowest: lowest phase velocity near the vertical, m/s. fastest: highest horizontal phase velocity, m/s.
        eigenvalue: largest eigenvalue of the space operator, 1/s^2 (extremes.py).
        weak_epsilon: what was done where epsilon < delta; None: nothing, such models are refused.
        notes: what a user should know of the values.
    """

    vp: np.ndarray
    epsilon: np.ndarray | None
    delta: np.ndarray | None
    slowest: float
    fastest: float
    eigenvalue: float
    weak_epsilon: WeakEpsilon | None = None
    notes: tuple[str, ...] = ()  # on its values

    @property
    def time_step_limit(self) -> float:
        """Largest stable dt, s."""
        return time_step_limit(self.eigenvalue)


class EarthFiles:
    """The open files of the model, which share one grid.

    Attributes:
        names: of the properties that the run's physics has. axes: of the files, slowest first. grid: of the model,
            without padding.
        placed: the survey, with what the files tell of their place. notes: on that.
        place: of the grid's x and y in the world.
    """

    def __init__(self, survey: Survey, headers_only: bool = False) -> None:
        """Raises InputError where a file is missing, or shapes, spacings or origins contradict each other.

        headers_only: of an RSF file only the header is needed; its values may be missing.
        """
        self._keys = survey.needed_model
        self._strategy = Strategy.of(survey.storage.read)
        self._weights = survey.propagation.space_weights
        self._name = str(survey.path)
        self._volumes: dict[str, Volume] = {}
        self.names = PROPERTIES[survey.propagation.physics]
        for name in self.names:
            value = getattr(self._keys, name)
            if isinstance(value, str):
                with naming(f"{self._name}: [model] {name}"):
                    self._volumes[name] = open_volume(value, survey.directory, headers_only)
        if not self._volumes:
            raise InputError(
                f"{self._name}: [model]: {', '.join(self.names[:-1])} and {self.names[-1]} are all numbers; "
                "needed: at least one file, which gives the grid its size"
            )
        self.axes = file_axes(self._name, self._keys, self._volumes)
        self.placed, self.notes = survey, tuple[str, ...]()
        self._units, self._factors = self._stated_units()
        self._assumed = assumed(self._keys, self._volumes)
        silent = silent_notes(self._name, self._keys.axes, self.axes, self._volumes)
        values_notes = silent + self._value_notes()
        world: World | None = None
        whole = len(self._keys.spacing or ()) == len(self.axes)
        given = file_grid(self._name, self._keys, self.axes, self._volumes) if whole else None
        placement = placement_of(self._name, self.axes, self._volumes, given)
        self.grid = file_grid(self._name, self._keys, self.axes, self._volumes, placement)
        if placement is not None:
            spacing = dict(zip("xyz", self.grid.spacing, strict=True))
            if len(self._keys.spacing or ()) == 1:
                self.notes = (f"[model] spacing: {placement.known}, which are taken",)
            # Coordinates whose spacing the survey overrules give no place either. An origin that a file carries places
            # the model as the survey's does, unless attributes say where its coordinates lie.
            if placement.overruled_by(spacing):
                self.notes += placement.spacing_notes(spacing)
            elif placement.world or all(volume.info.origin is None for volume in self._volumes.values()):
                self.placed, first, notes = placement.frame(survey, self.grid)
                self.grid = file_grid(self._name, self._keys, self.axes, self._volumes, placement, first)
                self.notes += notes
                own = self._keys.origin is None or placement.world
                world = placement.world_on(self.grid) if own else placement.world_said(self.grid)
            else:
                world = placement.world_said(self.grid)
        self.notes += values_notes
        self.place = Place(world_of_keys(self.placed.acquisition) or world, self._crs(), datum=self._datum())

    def _stated_units(self) -> tuple[dict[str, str | None], dict[str, float]]:
        """Units of each velocity's file, None where nothing says, and what the values of the others are times to be SI.

        Raises InputError for units that are unknown or contradict the survey."""
        units, factors = dict[str, str | None](), dict[str, float]()
        for name, volume in self._volumes.items():
            if name in VELOCITIES:
                units[name] = units_of(f"{self._name}: [model] units", volume.path, volume.info, self._keys.units)
            else:
                factors[name] = factor_of(f"{self._name}: [model] {name}", name, volume)
        return units, factors

    def _order_note(self) -> str:
        """What the velocities say of the order of axes that nothing names."""
        if "vp" not in self._volumes:
            return ""
        return order_note(self._volumes["vp"], lambda values: self._in_units("vp", values), "axes =")

    def _value_notes(self) -> tuple[str, ...]:
        """What was taken though no file states it, and feet."""
        notes: tuple[str, ...] = (
            ()
            if self._assumed is None
            else (assumption("[model] axes", self._assumed, self.axes) + self._order_note(),)
        )
        files = self._volumes.values()
        notes += tuple(dict.fromkeys(f"{file.path}: {note}" for file in files for note in file.info.notes))
        if self._keys.spacing is not None:
            notes += tuple(dict.fromkeys(f"{file.path}: {unused}" for file in files if (unused := unused_places(file))))
        segy = [volume for volume in files if isinstance(volume, SegyVolume)]
        if self._keys.origin is None:
            notes += tuple(
                dict.fromkeys(f"{note}; [model] origin gives it" for file in segy for note in file.depth_notes)
            )
        for name in VELOCITIES:
            if volume := self._volumes.get(name):
                notes += unit_notes(f"[model] {name}", volume.path, volume.info, self._keys.units)
        return notes

    def swapped_grids(self) -> dict[str, Grid]:
        """The grids that the model would have with depth as its first axis, by [model] axes; empty where something says
        which axes it has."""
        if self._assumed is None:
            return {}
        found = {}
        for axes in ("zx",) if self.dimension == 2 else ("zxy", "zyx"):
            with contextlib.suppress(InputError):
                found[axes] = file_grid(self._name, self._keys, axes, self._volumes)
        return found

    def check_order(self, comm: MPI.Intracomm | None = None) -> None:
        """Collective where a communicator is given. Raises InputError where nothing says which axes the model has, and
        its values say that the first is depth."""
        if self._assumed is None or "vp" not in self._volumes:
            return
        with contextlib.nullcontext() if comm is None else collective_errors(comm):
            if depth_first(self._volumes["vp"], lambda values: self._in_units("vp", values)):
                wanted = order_words(0, self.dimension)
                raise InputError(
                    f"{self._name}: [model] axes: left out, which means {self.axes}, but the first cells of "
                    f"{self._volumes['vp'].path} along its first axis are all water, as if that were depth; "
                    f'needed: axes = {wanted}, or "{self.axes}" if that is right'
                )

    def hard_notes(self, least: float) -> tuple[str, ...]:
        """A note where the least P velocity (m/s) is so high that a file without units may be in feet."""
        if "vp" not in self._volumes or self._units["vp"] is not None:
            return ()
        return hard_note("[model] units", self._volumes["vp"].path, least)

    def _crs(self) -> str:
        """The name of the coordinate reference system, of the first file that has one."""
        return next((volume.info.place.crs for volume in self._volumes.values() if volume.info.place.crs), "")

    def _datum(self) -> str:
        """The name of the level that depths count from, of the first file that has one."""
        return next((volume.info.place.datum for volume in self._volumes.values() if volume.info.place.datum), "")

    @property
    def paths(self) -> list[Path]:
        """The files, in the order of `names`."""
        return [volume.path for volume in self._volumes.values()]

    def inputs(self) -> dict[str, list[Path]]:
        """Every file that a property is read from, by its name, the one that the survey names first.

        Raises InputError where a format's own list of files cannot be read."""
        return {name: volume.files() for name, volume in self._volumes.items()}

    @property
    def bytes_per_cell(self) -> int:
        """Bytes of a cell in all files together, as stored."""
        return self.bytes_of(self.names)

    def bytes_of(self, names: Sequence[str]) -> int:
        """Bytes of a cell in the files of some properties, as stored."""
        return sum(self._volumes[name].info.dtype.itemsize for name in names if name in self._volumes)

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.axes)

    def per_cent_notes(self, largest: Mapping[str, float]) -> tuple[str, ...]:
        """Notes where files of epsilon and delta may hold per cent; largest: their largest magnitudes, by name."""
        files = {name: volume for name, volume in self._volumes.items() if name in largest}
        return tuple(
            note for name, file in files.items() for note in per_cent_note(f"[model] {name}", file, largest[name])
        )

    def zeros_notes(self, largest: Mapping[str, float]) -> tuple[str, ...]:
        """A note where files of epsilon and delta hold zeros alone: headers, by which the equation is chosen, do not
        say that the medium is isotropic. largest: as of `per_cent_notes`."""
        if any(largest.values()):
            return ()
        files = " and ".join(str(volume.path) for name, volume in self._volumes.items() if name in largest)
        return (
            f"[model] epsilon, delta: all values of {files} are 0: the equation of VTI media is computed, which takes "
            "more memory and time and rounds more; with both keys left out it is that of isotropic media",
        )

    @property
    def isotropic(self) -> bool:
        """Whether neither epsilon nor delta is given (or both are the number 0). Files are VTI, whatever their values,
        which a plan may not have."""
        return not any(isinstance(v, str) or v != 0 for v in (self._keys.epsilon, self._keys.delta))

    def read(self, grid: Grid, block: Decomposition, radius: int, comm: MPI.Intracomm) -> Earth:
        """Collective. This rank's part of the model on the padded grid; radius: of the space stencil, cells.

        Raises InputError, the same on all ranks, for values that the checks refuse (checks.py: number of cells and
        position) and for a file that cannot be read.
        """
        arrays = self._raw_parts(grid, block, comm)
        checks = self.checks(grid, block, comm)
        for name, values in arrays.items():
            checks.finite(name, values)
        notes = self.hard_notes(checks.velocity(arrays["vp"]))
        self.check_order(comm)
        weak = None
        if not self.isotropic:
            largest = checks.thomsen(arrays["epsilon"], arrays["delta"])
            notes += self.per_cent_notes(largest) + self.zeros_notes(largest)
            weak = checks.weak_epsilon(arrays["epsilon"], arrays["delta"], self._keys.on_weak_epsilon)
        arrays = self._strengthened(arrays)
        vp, epsilon, delta = arrays["vp"], arrays.get("epsilon"), arrays.get("delta")
        slowest, fastest, eigenvalue = extremes(vp, epsilon, delta, grid, radius, self._weights)
        return Earth(
            vp=vp,
            epsilon=epsilon,
            delta=delta,
            slowest=allreduce(comm, slowest, "MIN"),
            fastest=allreduce(comm, fastest, "MAX"),
            eigenvalue=allreduce(comm, eigenvalue, "MAX"),
            weak_epsilon=weak,
            notes=notes,
        )

    def checks(self, grid: Grid, block: Decomposition, comm: MPI.Intracomm) -> ModelChecks:
        """Checks of arrays on a block of the padded grid."""
        volume, given = self._volumes.get("vp"), f'[model] units = "{self._units_of("vp")}"'
        doubt = f"is {given} right?" if volume is None else unit_doubt(volume.info, given)
        return ModelChecks(
            self._name, self._units_of, self._source, grid, block, comm, self._keys.units, doubt, self.missing
        )

    def parts(self, grid: Grid, block: Decomposition, comm: MPI.Intracomm) -> dict[str, np.ndarray]:
        """Collective. Arrays by name: vp (m/s), and epsilon and delta where the model is VTI, with epsilon >= delta
        where [model] on_weak_epsilon sees to it.

        float32 [x, y, z] on the block's cells of the padded grid, unchecked. Raises InputError for a file that cannot
        be read.
        """
        return self._strengthened(self._raw_parts(grid, block, comm))

    def _strengthened(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The arrays, epsilon and delta as [model] on_weak_epsilon has them."""
        if self.isotropic:
            return arrays
        epsilon, delta = strengthened(arrays["epsilon"], arrays["delta"], self._keys.on_weak_epsilon)
        return arrays | {"epsilon": epsilon, "delta": delta}

    def _raw_parts(self, grid: Grid, block: Decomposition, comm: MPI.Intracomm) -> dict[str, np.ndarray]:
        """Collective. As `parts`, as the files have them."""
        own = math.prod(hi - lo for lo, hi in zip(*grid.model_box(block), strict=True))
        names = NAMES[:1] if self.isotropic else NAMES
        return {name: self.part(name, grid, block.lo, block.hi, own, comm) for name in names}

    def vp(self, lo: Sequence[int], hi: Sequence[int]) -> np.ndarray:
        """vp, float32 [x, y, z], m/s, of the model's cells from lo to hi (x, y, z; half-open)."""
        return self._cells("vp", list(zip(lo, hi, strict=True)))

    def cells(self, lo: Sequence[int], hi: Sequence[int]) -> dict[str, np.ndarray]:
        """As `parts`, of the model's cells from lo to hi (x, y, z; half-open), by one rank."""
        ranges = list(zip(lo, hi, strict=True))
        return self._strengthened({name: self._cells(name, ranges) for name in NAMES[: 1 if self.isotropic else 3]})

    def source(self, name: str) -> str:
        """A property with its file, for messages."""
        return f"{self._name}: {self._source(name)}"

    def missing(self, name: str) -> str:
        """What stands for missing data in the file of a property, for messages; "": nothing."""
        volume = self._volumes.get(name)
        return "" if volume is None else volume.info.fill_words

    def sample(self, names: Sequence[str] | None = None) -> tuple[list[np.ndarray], str]:
        """Sample of the model: at most MOST_ROWS rows of cells along the fastest axis, evenly spread.

        names: properties; None: vp, epsilon and delta, of an isotropic model vp alone. Returns these in SI units,
        float32 (rows, 1, cells) each, unchecked; and a description of the sample. Raises InputError where rows cannot
        be read.
        """
        names = names or NAMES[: 1 if self.isotropic else 3]
        slow_axes = next(iter(self._volumes.values())).info.shape[:-1]
        most = MOST_ROWS if len(slow_axes) == 1 else math.isqrt(MOST_ROWS)
        indices = [np.unique(np.linspace(0, n - 1, min(n, most)).astype(int)).tolist() for n in slow_axes]
        rows, total = list(itertools.product(*indices)), math.prod(slow_axes)
        arrays = [self._rows(name, rows) for name in names]
        description = WHOLE if len(rows) == total else f"{len(rows)} of {total} rows of the model"
        return list(np.broadcast_arrays(*arrays)), description

    def _rows(self, name: str, rows: list[tuple[int, ...]]) -> np.ndarray:
        """Rows of a property along the files' fastest axis, float32 (rows, 1, cells); (1, 1, 1) for a number."""
        value = getattr(self._keys, name)
        if not isinstance(value, str):
            return np.full((1, 1, 1), self._in_units(name, np.float32(value)), np.float32)
        volume = self._volumes[name]
        cells = volume.info.shape[-1]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            values = [volume.read([*row, 0], [*(n + 1 for n in row), cells]).reshape(1, cells) for row in rows]
            return np.asarray(self._in_units(name, np.array(values)), np.float32)

    def number(self, name: str) -> float:
        """A property that is a number, in SI units."""
        return float(self._in_units(name, np.float32(getattr(self._keys, name))))

    def pieces(self, names: Sequence[str], comm: MPI.Intracomm) -> Iterator[dict[str, np.ndarray]]:
        """Collective. Some properties of the model's cells, float32 [x, y, z], unchecked: each cell on one rank, and
        not too many at a time."""
        grid, along = self.grid, "xyz".index(self.axes[0])
        planes, cells = grid.shape[along], math.prod(grid.shape)
        # Rank 0 reads the whole file in any case where it sends.
        parts = 1 if self._strategy.name == ROOT else -(-cells // (comm.size * PIECE))
        for number in range(parts):
            lo, hi = split(planes, parts * comm.size, number * comm.size + comm.rank)
            lower, upper = [0, 0, 0], list(grid.shape)
            lower[along] = min(lo, planes - 1)
            upper[along] = max(hi, lower[along] + 1)
            own = cells // planes * (hi - lo)
            yield {name: self.part(name, grid, lower, upper, own, comm) for name in names}

    def given(self, name: str) -> bool:
        """Whether the survey has a property."""
        return getattr(self._keys, name) is not None

    def part(
        self, name: str, grid: Grid, lower: Sequence[int], upper: Sequence[int], own: int, comm: MPI.Intracomm
    ) -> np.ndarray:
        """Collective. A property, float32 [x, y, z], unchecked, on a box of cells of the padded grid and beyond it;
        outside the model its edge cells repeat.

        Args:
            lower, upper: the box, half-open, x, y, z. own: cells of it that no other rank reads, for the ledger.
        """
        ranges, before, after = [], [], []
        for lo, hi, n, (pad, _), first in zip(lower, upper, grid.shape, grid.pad, grid.first, strict=True):
            a = min(max(lo - pad, 0), n - 1)
            b = max(min(hi - pad, n), a + 1)
            ranges.append((first + a, first + b))
            before.append(min(max(a - (lo - pad), 0), hi - lo - 1))
            after.append((hi - lo) - (b - a) - before[-1])
        share = own / math.prod(b - a for a, b in ranges) if self._strategy.overlaps else 1.0
        with ledger.file("model", "read", own=share):
            cells = self._cells(name, ranges, comm)
        return np.pad(cells, list(zip(before, after, strict=True)), mode="edge")

    def _cells(self, name: str, ranges: Sequence[tuple[int, int]], comm: MPI.Intracomm | None = None) -> np.ndarray:
        """A property, float32 [x, y, z], on the model's cells in half-open ranges along x, y, z.

        Collective where a communicator is given: its ranks then read by the survey's storage strategy.
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
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # reported by the checks
            return np.asarray(self._in_units(name, raw.transpose(order).reshape(shape)), np.float32)

    def _shared(self, name: str, comm: MPI.Intracomm) -> SharedVolume:
        volume = self._volumes[name]
        with naming(f"{self._name}: [storage] read"):
            format_to_read(volume.path).chosen(volume.path, self._strategy, "read", comm.size)
        return SharedVolume(volume, comm, self._strategy)

    def _in_units(self, name: str, values: Any) -> Any:
        """Values of a property in SI units."""
        if name in VELOCITIES:
            return metres_per_second(values, self._units_of(name))
        factor = self._factors.get(name, 1.0)
        return values if factor == 1.0 else factor * values

    def _units_of(self, name: str) -> str:
        """Of a velocity; of a number the survey's."""
        return self._units.get(name, self._keys.units) or "m/s"

    def _source(self, name: str) -> str:
        """A property with its file, for messages."""
        volume = self._volumes.get(name)
        return f"[model] {name} ({volume.path})" if volume else f"[model] {name}"
