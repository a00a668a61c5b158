"""The volume from which a model is prepared: its grid, and its values along x, y, z in m/s."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.model.axes import assumed_axes, assumption, labelled_axes, natural_axes
from fathometer.seismic.model.axis_order import depth_first, order_note
from fathometer.seismic.model.limits import CELLS, velocity_range
from fathometer.seismic.model.means import SLOWNESS_SQUARED
from fathometer.seismic.model.placement import WORDS, Placement, placement_of, unused_places
from fathometer.seismic.model.prepare.extent import along
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.seismic.model.velocity_units import (
    OTHERS,
    fitting_units,
    hard_note,
    metres_per_second,
    unit_doubt,
    unit_notes,
    units_of,
)
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.place import EAST, Place, World, holds_no_place
from fathometer.storage.volumes.volume import Volume

NOT_FINITE = "not finite"
Floats = npt.NDArray[np.float32]


class InputVolume:
    """A file's volume as [x, y, z] in m/s.

    Attributes:
        name: reference of the volume, for messages. units: of its values; "none": not a velocity.
        axes: of the file, slowest first. grid: of the whole volume.
        mean: of what averages are, where the request does not say.
        notes: where the options contradict the file's trace headers. place: of the grid's x and y in the world.
    """

    mean = SLOWNESS_SQUARED

    def __init__(self, request: PreparationRequest, volume: Volume) -> None:
        """Raises InputError where units, axes or cells are unknown or contradict each other."""
        self.name, self._volume = request.model, volume
        stated = units_of("--units", volume.path, volume.info, request.units)
        self._given, self._placeless = request.units, holds_no_place(request.output)
        self._unit_stated, self.units = stated is not None, stated or "m/s"
        self.notes: tuple[str, ...] = unit_notes("--units", volume.path, volume.info, request.units)
        self.notes += tuple(f"{volume.path}: {note}" for note in volume.info.notes)
        if isinstance(volume, SegyVolume) and request.input_origin is None:
            self.notes += tuple(f"{note}; --input-origin gives it" for note in volume.depth_notes)
        for option, given in (("--epsilon", request.epsilon), ("--delta", request.delta)):
            if given is not None and self.units == "none":
                raise InputError(f"{option}: found with --units none; needed: a velocity")
        if request.sea_floor is not None and request.sea_floor.velocity is not None and self.units == "none":
            raise InputError("--below-water: found a velocity with --units none; allowed: depth:METRES")
        self.axes = self._axes(request.axes)
        reason = volume.info.uneven or (volume.info.unplaced if request.input_spacing is None else "")
        if reason:
            also = "" if volume.info.uneven else ", or --input-spacing"
            raise InputError(f"{self.name}: {reason}; needed: coordinates of equal steps, in m{also}")
        if unused := unused_places(volume):
            self.notes += (f"{volume.path}: {unused}",)
        self._world: World | None = None
        self.grid = self._grid(request)
        self.place = Place(self._world, volume.info.place.crs, datum=volume.info.place.datum)

    @property
    def velocity(self) -> bool:
        """Whether the values are velocities."""
        return self.units != "none"

    @property
    def paths(self) -> tuple[Path, ...]:
        """The file's."""
        return (self._volume.path,)

    @property
    def itemsize(self) -> int:
        """Bytes of a value in the file."""
        return self._volume.info.dtype.itemsize

    @property
    def unit(self) -> str | None:
        """Unit of the values that `read` returns."""
        return "m/s" if self.velocity else self._volume.info.unit

    def _axes(self, option: str | None) -> str:
        info = self._volume.info
        natural = natural_axes(len(info.shape))
        if option is not None and sorted(option) != sorted(natural):
            raise InputError(
                f"--axes: found {option}; {self.name} has {len(info.shape)}: {times(info.shape)} cells, slowest first"
            )
        axes = labelled_axes("--axes", self._volume, option) or option or natural
        self._assumed = assumed_axes(self._volume, option)
        if self._assumed:
            hint = order_note(self._volume, lambda part: metres_per_second(part, self.units), "--axes")
            self.notes += (assumption("--axes", self._volume, axes) + hint.replace('"', ""),)
        return axes

    def _grid(self, request: PreparationRequest) -> Grid:
        info = self._volume.info
        cells = dict(zip(self.axes, info.shape, strict=True))
        for name, n in cells.items():
            if n < 2:
                raise InputError(
                    f"{self.name}: {times(info.shape)} cells, one along {name}; allowed: two or more along each axis"
                )
        used = tuple(axis for axis, name in enumerate("xyz") if name in cells)
        spacing = self._metres(used, info.spacing or info.partial, request.input_spacing, "--input-spacing")
        origin = self._metres(used, info.origin, request.input_origin, "--input-origin")
        shape = (cells["x"], cells.get("y", 1), cells["z"])
        told = None
        if spacing is not None:
            told = Grid(shape, _vector(spacing, spacing[0]), _vector(self._firsts if origin is None else origin, 0.0))
        placement = placement_of(self.name, self.axes, {"model": self._volume}, told)
        depth_step = dict(zip(self.axes, info.partial, strict=False)).get("z")
        if spacing is None and placement is not None and depth_step is not None:
            spacing = {"xyz".index(name): placement.spacing[name] for name in cells if name != "z"} | {2: depth_step}
        if spacing is None and placement is not None:
            raise InputError(f"--input-spacing: missing; {placement.known}; needed: that along z too (m, as 12.5,10)")
        if spacing is None:
            raise InputError(f"--input-spacing: missing; needed, since {self.name} carries no spacing (m, as 12.5,10)")
        if placement is not None:
            given = {"xyz"[axis]: metres for axis, metres in spacing.items()}
            self.notes += placement.spacing_notes(given, "--input-spacing")
            if placement.world is not None and not placement.overruled_by(given):
                self._world = placement.world
            elif origin is None and not placement.overruled_by(given):
                origin, note = self._placed(placement)
                self.notes += (note,)
        for axis, length in spacing.items():
            check_spacing("--input-spacing", axis, length)
        return Grid(shape, _vector(spacing, spacing[0]), _vector(self._firsts if origin is None else origin, 0.0))

    @property
    def _firsts(self) -> dict[int, float]:
        """First coordinates, m, by axis, where the file has those of some axes."""
        known = zip(self.axes, self._volume.info.firsts, strict=False)
        return {"xyz".index(axis): metres for axis, metres in known if metres is not None}

    def _placed(self, placement: Placement) -> tuple[dict[int, float], str]:
        """Origin, m, by axis, by the file's trace headers where the grid lies along their coordinates, and a note."""
        x, y = placement.first
        where = f"the first cell lies at ({x:.10g}, {y:.10g}) m by the {placement.source}"
        along = placement.azimuth == EAST and not placement.mirrored
        first = {0: x, 1: y if "y" in self.axes else 0.0, 2: self._firsts.get(2, 0.0)} if along else {}
        self._world = placement.world_on(Grid((1, 1, 1), (1.0, 1.0, 1.0), _vector(first, 0.0)))
        if along:
            return {axis: first[axis] for axis in first if "xyz"[axis] in self.axes}, where
        turned = f"{where}, x points to azimuth {placement.azimuth:g} degrees"
        if self._world is not None:
            if not self._placeless:
                turned += f"; the result keeps them as its attributes {WORDS}, or as CDP coordinates"
            return self._firsts, turned
        return self._firsts, f"{turned}, which the result does not keep: y would be mirrored; --axes can turn it round"

    def _metres(
        self,
        axes: tuple[int, ...],
        carried: tuple[float | None, ...] | None,
        given: tuple[float, ...] | None,
        option: str,
    ) -> dict[int, float] | None:
        """Spacing or origin, m, by axis, from the file and an option, which must not contradict each other."""
        places = zip(self.axes, carried or (), strict=False)
        in_file = {"xyz".index(axis): value for axis, value in places if value is not None}
        if given is None:
            return in_file if len(in_file) == len(axes) else None
        metres = along(axes, given, option)
        for axis, value in in_file.items():
            if not math.isclose(value, metres[axis], rel_tol=1e-4, abs_tol=1e-6):
                raise InputError(
                    f"{option}: found {metres[axis]:g} m along {'xyz'[axis]}, but {self._volume.path} says {value:g}; "
                    "allowed: the same, or left out (--spacing makes cells of another size)"
                )
        return metres

    def read(self, box: list[tuple[int, int]]) -> Floats:
        """Values, float32 [x, y, z], of the cells in half-open ranges along x, y, z; velocities in m/s. Notes on
        them are added to `notes`.

        Raises InputError for values that are not finite, for velocities out of range, and where nothing says which axis
        is depth and the values say another one.
        """
        ranges = dict(zip("xyz", box, strict=True))
        lo, hi = ([ranges[name][end] for name in self.axes] for end in (0, 1))
        raw = self._volume.read(lo, hi).transpose([self.axes.index(name) for name in "xyz" if name in self.axes])
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            values = np.ascontiguousarray(metres_per_second(raw, self.units), np.float32)
        values = values.reshape([b - a for a, b in box])
        wrong = ~np.isfinite(values)
        if wrong.any():
            raise InputError(self._message(wrong, box, values, NOT_FINITE, "finite values, and slowness above 0"))
        if self.velocity:
            slowest, fastest = velocity_range(self._given)
            wrong = ~((values >= slowest) & (values <= fastest))
            if wrong.any():
                ends = float(np.nanmin(values)), float(np.nanmax(values))
                doubt = unit_doubt(self._volume.info, f"--units {self.units}")
                allowed = f"{slowest:g} to {fastest:g} m/s; {doubt} known: {OTHERS}{fitting_units(*ends, self.units)}"
                raise InputError(self._message(wrong, box, values, "no velocities", allowed))
            if self._assumed and depth_first(self._volume, lambda part: metres_per_second(part, self.units)):
                raise InputError(
                    f"--axes: left out, which means {self.axes}, but the first cells of {self._volume.path} along its "
                    f"first axis are all water, as if that were depth; needed: --axes "
                    f"{'zx' if len(self.axes) == 2 else 'zxy'}, or {self.axes} if that is right"
                )
            if not self._unit_stated:
                self.notes += hard_note("--units", self._volume.path, float(values.min()))
        return values

    def _message(
        self, wrong: npt.NDArray[np.bool_], box: list[tuple[int, int]], values: Floats, problem: str, allowed: str
    ) -> str:
        """Number of wrong values, the first of them and its cell."""
        first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        cell = ", ".join(f"{'xyz'[axis]} {box[axis][0] + first[axis]}" for axis in self.grid.axes)
        missing = self._volume.info.fill_words if problem == NOT_FINITE else ""
        return (
            f"{self.name}: {int(np.count_nonzero(wrong))} of {wrong.size} values are {problem}{missing}, the first "
            f"{values[first]:g} in cell {cell} (from 0); allowed: {allowed}"
        )


def check_spacing(option: str, axis: int, length: float) -> None:
    """Raises InputError where a spacing (m) along an axis (0, 1, 2) is out of range."""
    if not CELLS[0] <= length <= CELLS[1]:
        raise InputError(f"{option}: found {length:g} m along {'xyz'[axis]}; allowed: {CELLS[0]:g} to {CELLS[1]:g} m")


def times(numbers: Any) -> str:
    """Numbers along axes as text: 100 x 200."""
    return " x ".join(f"{n:g}" if isinstance(n, float) else str(n) for n in numbers)


def _vector(values: dict[int, float], default: float) -> tuple[float, float, float]:
    x, y, z = (values.get(axis, default) for axis in range(3))
    return x, y, z
