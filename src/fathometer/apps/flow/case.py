"""A flow's input file made ready: what is solved, the fields at the beginning, ranks along the axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.format import MAGIC_PREFIX

from fathometer.apps.flow.flow_file import LARGEST_SPEED, IncompressibleFile, SideTable
from fathometer.apps.flow.solver.model import FlowModel, Fluid, Problem
from fathometer.apps.flow.solver.sides import SIDES, Side
from fathometer.base.errors import InputError
from fathometer.runs.fingerprint import values_hash
from fathometer.storage.reading import decoding, readable, reading

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class IncompressibleCase:
    """A flow made ready; the same on all ranks."""

    file: IncompressibleFile
    problem: Problem

    def facts(self) -> dict[str, Any]:
        """Grid and the rest that is known before the first step, as records have them."""
        grid = self.file.grid
        origin = grid.origin or (0.0,) * grid.dims
        return {
            "grid": {"shape": list(grid.cells), "spacing_metres": list(grid.spacing), "origin_metres": list(origin)},
            "variables": list(self.file.variables),
        }

    def state_input(self) -> dict[str, Any]:
        """What of the input a state depends on, JSON-ready: a run of another one does not go on from it."""
        values, keys = self.file.resolved(), self.file.output.tecplot
        found = {name: values.get(name) for name in ("grid", "fluid", "temperature", "side", "initial")}
        # Files of earlier times, or zones of the one file, are gone on with.
        found["output"] = {
            "variables": list(self.file.variables),
            "series": keys.series,
            "precision": keys.precision,
            "title": keys.title,
            "names": dict(keys.names),
        }
        profiles = {entry.side: self.problem.sides[entry.side] for entry in self.file.side if entry.profile_file}
        return found | {
            "values of": {
                f'[[side]] "{name}" profile_file': values_hash([np.asarray(side.velocity[0])])
                for name, side in profiles.items()
            }
        }

    def begin(self, model: FlowModel) -> None:
        """Collective. The fields at the beginning."""
        for axis in range(self.problem.dims):
            model.arrays[axis] = self._velocity(model, axis)
        heat = self.file.temperature
        if heat is not None:
            model.arrays[self.problem.dims] = heat.initial
        model.begin()

    def _velocity(self, model: FlowModel, along: int) -> Floats:
        keys, dims = self.file.initial, self.problem.dims
        x, y, z = (self._angles(model, axis, along) for axis in range(3))
        still = np.zeros(model.block.local_shape)
        match keys.kind:
            case "uniform":
                assert keys.velocity is not None
                found = still + keys.velocity[along]
            case "taylor-green":
                shapes = (np.sin(x) * np.cos(y), -np.cos(x) * np.sin(y), 0.0)
                found = still + keys.speed * shapes[along] * (np.cos(z) if dims == 3 else 1.0)
            case "beltrami":
                flat = (np.cos(y), np.sin(x), 0.0)
                solid = (np.sin(z) + np.cos(y), np.sin(x) + np.cos(z), np.sin(y) + np.cos(x))
                found = still + keys.speed * (solid if dims == 3 else flat)[along]
            case _:
                found = still
        return found + keys.noise * self._noise(model, along) if keys.noise else found

    def _angles(self, model: FlowModel, axis: int, along: int) -> Floats:
        """2 π times the place along an axis, of the box, where a velocity stands; broadcast to (z, y, x)."""
        cells = np.arange(model.block.lo[2 - axis], model.block.hi[2 - axis])
        angles = 2 * math.pi * (cells + (0.0 if axis == along else 0.5)) / self.problem.cells[axis]
        return angles.reshape([-1 if number == 2 - axis else 1 for number in range(3)])

    def _noise(self, model: FlowModel, along: int) -> Floats:
        """From -1 to 1, of this rank's cells: by rows along x, so that it is the same on any ranks."""
        (z0, y0, _), (z1, y1, _) = model.block.lo, model.block.hi
        nx = self.problem.cells[0]
        found = np.empty(model.block.local_shape)
        for k, j in np.ndindex(z1 - z0, y1 - y0):
            row = (along, z0 + k, y0 + j)
            found[k, j] = np.random.default_rng([self.file.initial.seed, *row]).uniform(-1, 1, nx)
        return found


def input_files(file: IncompressibleFile) -> list[Path]:
    """The files that a run reads, the input file first. Raises InputError where one cannot be opened."""
    profiles = [file.directory / side.profile_file for side in file.side if side.profile_file is not None]
    return [readable(path) for path in (file.path, *profiles)]


def case_bytes(file: IncompressibleFile) -> int:
    """Memory that `case_of` takes."""
    cells = [*file.grid.cells, 1]
    return 16 * cells[1] * cells[2] * sum(side.kind == "inflow" for side in file.side)


def case_of(file: IncompressibleFile) -> IncompressibleCase:
    """The input made ready. Raises InputError for what is wrong with it."""
    grid, heat = file.grid, file.temperature
    cells: Any = (*grid.cells, 1)[:3]
    spacing: Any = (*grid.spacing, 1.0)[:3]
    gravity = (heat.gravity if heat is not None else None) or (0.0,) * grid.dims
    expansion = heat.expansion if heat is not None else 0.0
    fluid = Fluid(
        file.fluid.viscosity,
        acceleration=_three(file.fluid.acceleration or ()),
        diffusivity=None if heat is None else heat.diffusivity,
        lift=_three([-g * expansion for g in gravity]),
        reference=0.0 if heat is None else heat.reference,
    )
    sides = {name: Side("periodic") for name in SIDES}
    for entry in file.side:
        sides[entry.side] = _side(file, entry, cells)
    return IncompressibleCase(file, Problem(cells, spacing, fluid, sides))


def _three(vector: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = (*vector, 0.0, 0.0, 0.0)[:3]
    return x, y, z


def _side(file: IncompressibleFile, entry: SideTable, cells: Sequence[int]) -> Side:
    velocity: dict[int, float | Floats] = dict(enumerate(entry.velocity or ()))
    temperature = entry.temperature
    if entry.kind == "inflow":
        velocity[0] = _profile(file, entry, cells)
        if temperature is None and file.temperature is not None:
            temperature = file.temperature.initial
    return Side(entry.kind, velocity, temperature)


def _profile(file: IncompressibleFile, entry: SideTable, cells: Sequence[int]) -> Floats:
    """Velocities along x of an inflow, (nz, ny). Raises InputError where they do not all enter the box."""
    ny, nz = cells[1], cells[2]
    inward = 1.0 if entry.side == "x-" else -1.0
    where = f'{file.path}: [[side]] "{entry.side}"'
    if entry.profile_file is not None:
        path = file.directory / entry.profile_file
        with reading(path), path.open("rb") as opened:
            if opened.read(len(MAGIC_PREFIX)) != MAGIC_PREFIX:
                raise InputError(f"{path}: is no NPY array")
        with decoding(path, "is no NPY array"):
            found = np.load(path, allow_pickle=False)
        if found.dtype.kind not in "fiu":
            raise InputError(f"{path}: found values of type {found.dtype}; allowed: real numbers")
        if found.shape != (nz, ny) and not (nz == 1 and found.shape == (ny,)):
            raise InputError(
                f"{path}: found an array of shape {found.shape}; needed: {(nz, ny)}, cells of the side (z, y)"
            )
        values = inward * np.asarray(found, np.float64).reshape(nz, ny)
    else:
        assert entry.velocity is not None
        values = np.full((nz, ny), entry.velocity[0])
        if entry.profile == "parabolic":
            walls = {other.side for other in file.side if other.kind == "wall"}
            for axis, n in ((1, ny), (2, nz)):
                low, high = (f"{'xyz'[axis]}{end}" in walls for end in "-+")
                if low or high:
                    place = (np.arange(n) + 0.5) / n
                    # Beside free slip it is the half of a channel of twice the width.
                    shape = place * (1 - place) if low and high else 1 - ((1 - place) if low else place) ** 2
                    values = values * (shape / shape.mean()).reshape((1, -1) if axis == 1 else (-1, 1))
    fast = np.abs(values) > LARGEST_SPEED
    if not np.isfinite(values).all() or fast.any() or (inward * values < 0).any() or not values.any():
        raise InputError(
            f"{where}: found velocities that are not all into the box; allowed: from 0 to {LARGEST_SPEED:g} m/s"
        )
    return values


def ranks_of(problem: Problem, ranks: int, path: Path) -> tuple[int, int]:
    """Ranks along z and y: slabs as far as there are planes, else pencils, cut along y as little as possible.

    Raises InputError for more ranks than the grid allows.
    """
    nx, ny, nz = problem.cells
    along_y = [ranks] if problem.dims == 2 else [n for n in range(1, ranks + 1) if ranks % n == 0]
    for y in along_y:
        z = ranks // y
        if z <= nz and y <= min(ny, nx // 2 + 1):
            return z, y
    most = (
        f"up to {min(ny, nx // 2 + 1)}"
        if problem.dims == 2
        else f"z * y with z up to {nz}, y up to {min(ny, nx // 2 + 1)}"
    )
    raise InputError(f"{path}: found {ranks} ranks; allowed: {most}")
