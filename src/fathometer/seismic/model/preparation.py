"""A model made ready for migration: from a file as it came to files as `model` and `migrate` read them.

In this order, each step where it is asked for:

    read      the part that the crop leaves, and what smoothing and new cells need around it
    units     to m/s; axes to x, y, z
    smooth    by a Gaussian, slowness instead of velocity; below the sea floor only, where that is told
    cells     of another size, slowness instead of velocity, low-passed where they are larger; across no sea floor
    crop      cells outside are cut off
    extend    the outermost cells repeat
    epsilon, delta   by rules, from the velocities that came out

The whole model is held in memory, three to five times in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.grid.volume_info import volume_info
from fathometer.parallel.memory_budget import require_memory, usable_memory
from fathometer.seismic.model import regridding, smoothing
from fathometer.seismic.model.earth import AXIS_OF_LABEL, CELLS, FASTEST, SLOWEST
from fathometer.seismic.model.extent import Extension, Span, along
from fathometer.seismic.model.thomsen import Constant, Rule, SeaFloor, check_well_posed, rock
from fathometer.storage import atomic
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import Volume, open_volume, write_volume
from fathometer.storage.volumes.writer import check_writable

Floats = npt.NDArray[np.float32]

UNITS = {
    "m/s": "m/s",
    "km/s": "km/s",
    "s2/km2": "s2/km2",
    "s^2/km^2": "s2/km2",
    "m s-1": "m/s",
    "km s-1": "km/s",
}  # as files write them
ADVICE = "use --crop or larger cells (--spacing)"


@dataclass(frozen=True)
class Request:
    """What is asked for; lengths in m, along x, y, z (2D: x, z), one value standing for all axes.

    Attributes:
        model: reference of a volume. output: file, whose suffix chooses the format.
        units: of the values; "none": no velocity; None: as the file says, else m/s.
        axes, input_spacing, input_origin: of the file, where it does not say.
        crop, smooth (standard deviations), spacing, extend: None: not done.
        epsilon, delta: rules; None: not made. sea_floor: above it they are 0 and nothing is smoothed.
    """

    model: str
    output: Path
    units: str | None = None
    axes: str | None = None
    input_spacing: tuple[float, ...] | None = None
    input_origin: tuple[float, ...] | None = None
    crop: tuple[Span, ...] | None = None
    smooth: tuple[float, ...] | None = None
    spacing: tuple[float, ...] | None = None
    extend: tuple[Extension, ...] | None = None
    epsilon: Rule | None = None
    delta: Rule | None = None
    sea_floor: SeaFloor | None = None


def prepare_model(request: Request, say: Callable[[str], None]) -> dict[str, Path]:
    """Do it on one rank; the files written, by name.

    Raises InputError for what is wrong with the request or the model, or does not fit into memory, FathometerError
    where the system refuses to write; then no file was changed that had not been written whole before.
    """
    files = {"model": request.output}
    for name in ("epsilon", "delta"):
        if getattr(request, name) is not None:
            files[name] = request.output.with_name(f"{request.output.stem}-{name}{request.output.suffix}")
    with open_volume(request.model, Path()) as volume:
        for path in files.values():
            check_writable(path, Strategy(), 1)
            if atomic.replaces(path, volume.path):
                raise InputError(f"{path}: would replace {volume.path}, which is read; allowed: another name")
        source = _Source(request, volume)
        say(f"{request.model}: {_words(source.grid)}")
        plan = _Plan(request, source.grid)
        plan.require_memory(volume.info.dtype.itemsize)
        values = source.read(plan.box)
    made = _made(request, source, plan, values, say)
    for name, path in files.items():
        unit = (source.unit or "") if name == "model" else ""
        info = replace(volume_info(plan.result, made[name].dtype, unit), unit=unit or None)
        block = made[name].reshape(info.shape)
        write_volume(path, info, block, [0] * block.ndim, MPI.COMM_SELF)
        say(f"{path}: {_words(plan.result)}, {made[name].min():g} to {made[name].max():g} {unit}".rstrip())
    return files


class _Source:
    """The file's volume as [x, y, z] in m/s."""

    def __init__(self, request: Request, volume: Volume) -> None:
        """Raises InputError where units, axes or cells are unknown or contradict each other."""
        self.name, self._volume = request.model, volume
        self.units = self._units(request.units)
        for option, given in (("--epsilon", request.epsilon), ("--delta", request.delta)):
            if given is not None and self.units == "none":
                raise InputError(f"{option}: found with --units none; needed: a velocity")
        if request.sea_floor is not None and request.sea_floor.velocity is not None and self.units == "none":
            raise InputError("--below-water: found a velocity with --units none; allowed: depth:METRES")
        self.axes = self._axes(request.axes)
        self.grid = self._grid(request)

    @property
    def velocity(self) -> bool:
        return self.units != "none"

    @property
    def unit(self) -> str | None:
        """Of the values that are read."""
        return "m/s" if self.velocity else self._volume.info.unit

    def _units(self, wanted: str | None) -> str:
        told = UNITS.get((self._volume.info.unit or "").strip().lower())
        if wanted is not None and told is not None and wanted != told:
            raise InputError(f"--units: found {wanted}, but {self._volume.path} says {told}; allowed: the same")
        said = (self._volume.info.unit or "").strip()
        if said and told is None and wanted is None:
            raise InputError(
                f"--units: missing; needed, since {self._volume.path} says {said}; known: {', '.join(UNITS)}"
            )
        return wanted or told or "m/s"

    def _axes(self, wanted: str | None) -> str:
        info = self._volume.info
        told = "".join(AXIS_OF_LABEL.get(label.strip().lower(), "?") for label in info.labels or ())
        told = told if told and "?" not in told else ""
        axes = wanted or told or ("xyz" if len(info.shape) == 3 else "xz")
        if sorted(axes) != sorted("xyz" if len(info.shape) == 3 else "xz"):
            raise InputError(
                f"--axes: found {axes}; {self.name} has {len(info.shape)}: {_times(info.shape)} cells, slowest first"
            )
        if told and axes != told:
            raise InputError(f"--axes: found {axes}, but {self._volume.path} labels them {told}, slowest first")
        return axes

    def _grid(self, request: Request) -> Grid:
        info = self._volume.info
        cells = dict(zip(self.axes, info.shape, strict=True))
        for name, n in cells.items():
            if n < 2:
                raise InputError(
                    f"{self.name}: {_times(info.shape)} cells, one along {name}; allowed: two or more along each axis"
                )
        used = tuple(axis for axis, name in enumerate("xyz") if name in cells)
        spacing = self._metres(used, info.spacing, request.input_spacing, "--input-spacing")
        origin = self._metres(used, info.origin, request.input_origin, "--input-origin")
        if spacing is None:
            raise InputError(f"--input-spacing: missing; needed, since {self.name} carries no spacing (m, as 12.5,10)")
        for axis, length in spacing.items():
            _check_spacing("--input-spacing", axis, length)
        origin = origin or {}
        shape = (cells["x"], cells.get("y", 1), cells["z"])
        return Grid(shape, _vector(spacing, spacing[0]), _vector(origin, 0.0))

    def _metres(
        self, axes: tuple[int, ...], carried: tuple[float, ...] | None, given: tuple[float, ...] | None, option: str
    ) -> dict[int, float] | None:
        told = None if carried is None else {"xyz".index(a): v for a, v in zip(self.axes, carried, strict=True)}
        if given is None:
            return told
        wanted = along(axes, given, option)
        for axis, value in (told or {}).items():
            if not math.isclose(value, wanted[axis], rel_tol=1e-4, abs_tol=1e-6):
                raise InputError(
                    f"{option}: found {wanted[axis]:g} m along {'xyz'[axis]}, but {self._volume.path} says {value:g}; "
                    "allowed: the same, or left out (--spacing makes cells of another size)"
                )
        return wanted

    def read(self, box: list[tuple[int, int]]) -> Floats:
        """float32 [x, y, z] of the cells in half-open ranges along x, y, z, in m/s where it is a velocity.

        Raises InputError where values are not finite, or no velocities.
        """
        ranges = dict(zip("xyz", box, strict=True))
        lo, hi = ([ranges[name][end] for name in self.axes] for end in (0, 1))
        raw = self._volume.read(lo, hi).transpose([self.axes.index(name) for name in "xyz" if name in self.axes])
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            values = np.ascontiguousarray(_in_metres_per_second(raw, self.units), np.float32)
        values = values.reshape([b - a for a, b in box])
        bad = ~np.isfinite(values)
        if bad.any():
            raise InputError(self._wrong(bad, box, values, "not finite", "finite values, and slowness above 0"))
        if self.velocity:
            bad = (values < SLOWEST) | (values > FASTEST)
            if bad.any():
                allowed = f"{SLOWEST:g} to {FASTEST:g} m/s; is --units {self.units} right?"
                raise InputError(self._wrong(bad, box, values, "no velocities", allowed))
        return values

    def _wrong(
        self, bad: npt.NDArray[np.bool_], box: list[tuple[int, int]], values: Floats, what: str, allowed: str
    ) -> str:
        first = np.unravel_index(int(np.argmax(bad)), bad.shape)
        place = ", ".join(f"{'xyz'[axis]} {box[axis][0] + first[axis]}" for axis in self.grid.axes)
        return (
            f"{self.name}: {int(np.count_nonzero(bad))} of {bad.size} values are {what}, the first {values[first]:g} "
            f"in cell {place} (from 0); allowed: {allowed}"
        )


class _Plan:
    """Which cells are read, and what comes of them."""

    def __init__(self, request: Request, grid: Grid) -> None:
        """Raises InputError for a crop outside the model, or spacings that are none."""
        axes = grid.axes
        crop = along(axes, request.crop, "--crop") if request.crop else {}
        deviation = along(axes, request.smooth, "--smooth") if request.smooth else {}
        wanted = along(axes, request.spacing, "--spacing") if request.spacing else {}
        extend = along(axes, request.extend, "--extend") if request.extend else {}
        self.deviation = [deviation.get(axis, 0.0) / grid.spacing[axis] for axis in range(3)]
        self.box, self.core, places = [], [], []
        before, after = [0, 0, 0], [0, 0, 0]
        for axis, n in enumerate(grid.shape):
            origin, spacing = grid.origin[axis], grid.spacing[axis]
            lo, hi = crop[axis].cells(origin, spacing, n) if axis in crop else (0, n)
            if axis in axes and hi - lo < 2:
                raise InputError(
                    f"--crop: leaves {max(0, hi - lo)} cells along {'xyz'[axis]}; allowed: two or more of those from "
                    f"{origin:g} to {origin + (n - 1) * spacing:g} m, every {spacing:g} m"
                )
            length = wanted.get(axis, spacing)
            _check_spacing("--spacing", axis, length)
            around = smoothing.reach(self.deviation[axis]) + regridding.reach(spacing, length)
            self.box.append((max(0, lo - around), min(n, hi + around)))
            self.core.append((lo - self.box[-1][0], hi - self.box[-1][0]))
            if regridding.same(spacing, length):
                length, cells = spacing, hi - lo
            else:
                cells = regridding.count(origin + lo * spacing, origin + (hi - 1) * spacing, length)
            if axis in axes and cells < 2:
                raise InputError(
                    f"--spacing: found {length:g} m along {'xyz'[axis]}, where the model is "
                    f"{(hi - 1 - lo) * spacing:g} m long; allowed: two cells or more"
                )
            places.append((origin + lo * spacing, length, cells))
            if axis in extend:
                before[axis], after[axis] = (end.cells(length) for end in (extend[axis].before, extend[axis].after))
        self.read = _part_of(grid, self.box)
        self.inner = _grid_of(places)
        self.pad = list(zip(before, after, strict=True))
        self.result = _grid_of(
            [(first - b * d, d, n + b + a) for (first, d, n), b, a in zip(places, before, after, strict=True)]
        )
        self._apart = request.sea_floor is not None  # water and rock, each in an array of its own
        self._made = 1 + sum(rule is not None for rule in (request.epsilon, request.delta))

    def require_memory(self, itemsize: int) -> None:
        """Raises InputError where the host has not got what this takes."""
        parts = {
            "model as it is read": math.prod(self.read.shape) * (itemsize + 4 * (3 + 2 * self._apart)),
            "model as it is written": math.prod(self.result.shape) * 4 * (self._made + 1 + self._apart),
        }
        require_memory(parts, usable_memory(MPI.COMM_SELF, 1.0), MPI.COMM_SELF, ADVICE)


def _made(
    request: Request, source: _Source, plan: _Plan, values: Floats, say: Callable[[str], None]
) -> dict[str, Floats]:
    """The properties on the resulting grid, float32 [x, y, z]."""
    floor = None
    if request.sea_floor is not None:
        floor = request.sea_floor.depths(values, plan.read)
        seen = floor[np.isfinite(floor)]
        say(f"sea floor at {seen.min():g} to {seen.max():g} m")
    if any(plan.deviation) or plan.inner.spacing != plan.read.spacing:
        quantity: Floats = _other(values) if source.velocity else values
        quantity = _on_inner_cells(quantity, floor, plan)
        # Low-passed edges overshoot; no velocity is to come out that was not there.
        low, high = values.min(), values.max()
        if source.velocity:  # as slowness: one that overshoots below 0 would turn the fastest into the slowest
            quantity = _other(np.clip(quantity, 1 / high, 1 / low))
        values = np.clip(quantity, low, high)
    else:
        values = values[tuple(slice(*ends) for ends in plan.core)]
    made = {"model": np.pad(values, plan.pad, mode="edge")}
    rules = {"epsilon": request.epsilon, "delta": request.delta}
    if any(rules.values()):
        below: Any = True
        if floor is not None:
            below = rock(_under(floor, plan, plan.result), plan.result)
        parameters = {
            name: np.where(below, (rule or Constant(0.0))(made["model"]), np.float32(0)) for name, rule in rules.items()
        }
        check_well_posed(parameters["epsilon"], parameters["delta"], plan.result)
        made |= {name: parameters[name] for name, rule in rules.items() if rule is not None}
    return made


def _other(values: Floats) -> Floats:
    """Slowness of velocity, or velocity of slowness."""
    return np.asarray(1 / values, np.float32)


def _on_inner_cells(values: Floats, floor: npt.NDArray[np.float64] | None, plan: _Plan) -> Floats:
    """Smoothed, and on the cells that remain. Where the sea floor is told, water and rock are dealt with apart, each
    continued into the other, so that the edge between them stays one."""
    among = None if floor is None else rock(floor, plan.read)
    if any(plan.deviation):
        values = smoothing.smoothed(values, plan.deviation, among)
    if floor is None or among is None or plan.inner.spacing == plan.read.spacing:
        return _cells(values, plan)
    first = np.argmax(among, axis=2)[:, :, None]
    top, bottom = (np.take_along_axis(values, np.maximum(first - shift, 0), 2) for shift in (0, 1))
    below = _cells(np.where(among, values, top), plan)
    above = _cells(np.where(among, bottom, values), plan)
    return np.where(rock(_under(floor, plan, plan.inner), plan.inner), below, above)


def _cells(values: Floats, plan: _Plan) -> Floats:
    """The cells of `inner` from those that were read."""
    for axis in plan.read.axes:
        first, spacing = plan.inner.origin[axis], plan.inner.spacing[axis]
        if spacing == plan.read.spacing[axis]:
            values = values.take(np.arange(*plan.core[axis]), axis)
        else:
            places = first + spacing * np.arange(plan.inner.shape[axis], dtype=np.float64)
            values = regridding.regrid(values, axis, plan.read.origin[axis], plan.read.spacing[axis], places)
    return values


def _under(floor: npt.NDArray[np.float64], plan: _Plan, grid: Grid) -> npt.NDArray[np.float64]:
    """The sea floor's depths (nx, ny) below the columns of another grid: those of the nearest that were read."""
    columns = []
    for axis in (0, 1):
        places = grid.origin[axis] + grid.spacing[axis] * np.arange(grid.shape[axis])
        cells = np.rint((places - plan.read.origin[axis]) / plan.read.spacing[axis]).astype(np.int64)
        lo, hi = plan.core[axis]
        columns.append(np.clip(cells, lo, hi - 1))
    return floor[np.ix_(*columns)]


def _in_metres_per_second(values: npt.NDArray[Any], units: str) -> npt.NDArray[Any]:
    if units == "km/s":
        return 1000 * values
    return 1000 / np.sqrt(values) if units == "s2/km2" else values


def _check_spacing(option: str, axis: int, length: float) -> None:
    if not CELLS[0] <= length <= CELLS[1]:
        raise InputError(f"{option}: found {length:g} m along {'xyz'[axis]}; allowed: {CELLS[0]:g} to {CELLS[1]:g} m")


def _part_of(grid: Grid, box: list[tuple[int, int]]) -> Grid:
    return _grid_of([(o + lo * d, d, hi - lo) for o, d, (lo, hi) in zip(grid.origin, grid.spacing, box, strict=True)])


def _grid_of(axes: list[tuple[float, float, int]]) -> Grid:
    """From (first, spacing, cells) along x, y, z."""
    (x, dx, nx), (y, dy, ny), (z, dz, nz) = axes
    return Grid((nx, ny, nz), (dx, dy, dz), (x, y, z))


def _vector(values: dict[int, float], other: float) -> tuple[float, float, float]:
    x, y, z = (values.get(axis, other) for axis in range(3))
    return x, y, z


def _words(grid: Grid) -> str:
    cells, lengths, places = (
        [numbers[axis] for axis in grid.axes] for numbers in (grid.shape, grid.spacing, grid.origin)
    )
    return f"{_times(cells)} cells of {_times(lengths)} m from ({', '.join(f'{place:g}' for place in places)}) m"


def _times(numbers: Any) -> str:
    return " x ".join(f"{n:g}" if isinstance(n, float) else str(n) for n in numbers)
