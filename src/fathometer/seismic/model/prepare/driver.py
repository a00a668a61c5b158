"""Preparation of a model for migration: `fathometer prepare`.

In this order, each optional step where it is requested:

    read      the part that the crop leaves, and the cells around it that smoothing and regridding need
    units     to m/s; axes to x, y, z
    smooth    by a Gaussian, of what --mean says (means.py) instead of velocity; only below the sea floor, where it is
              given
    regrid    to another spacing, of the same, low-passed where cells are larger; water and rock are regridded
              separately
    crop      cells outside are cut off
    extend    the edge cells repeat
    epsilon, delta   by rules, from the resulting velocities; those of volumes take part in all steps before

The whole model is held in memory, three to five times in float32, up to nine times with epsilon and delta of volumes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer import __version__
from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.grid.volume_info import volume_info
from fathometer.seismic.model import means, smoothing
from fathometer.seismic.model.prepare import regridding
from fathometer.seismic.model.prepare.anisotropy import GivenParameter, given_parameters, within_limits
from fathometer.seismic.model.prepare.input_volume import InputVolume, times
from fathometer.seismic.model.prepare.plan import PreparationPlan
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.seismic.model.prepare.thomsen import Constant, Given, Rule, check_well_posed, rock
from fathometer.storage import atomic
from fathometer.storage.describe import equal_notes
from fathometer.storage.volumes.place import Place
from fathometer.storage.volumes.registry import require_replaceable
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume, write_volume
from fathometer.storage.volumes.writer import check_stored, check_writable

Floats = npt.NDArray[np.float32]


class Source(Protocol):
    """What a model is prepared from.

    Attributes:
        grid: of the whole. velocity: whether its values are velocities. unit: of the values that `read` returns.
        notes: for the user. paths: of its files. itemsize: bytes of a value as it is read.
        mean: of what smoothing and new cells are the mean, where the request does not say (means.MEANS).
        axes: of its files, slowest first.
        place: of the grid's x and y in the world.
    """

    grid: Grid
    notes: tuple[str, ...]
    place: Place
    axes: str

    @property
    def velocity(self) -> bool: ...
    @property
    def unit(self) -> str | None: ...
    @property
    def paths(self) -> tuple[Path, ...]: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def mean(self) -> str: ...

    def read(self, box: list[tuple[int, int]]) -> Floats:
        """Values, float32 [x, y, z], of the cells in half-open ranges along x, y, z. InputError for wrong ones."""


def prepare_volume(request: PreparationRequest, say: Callable[[str], None]) -> dict[str, Path]:
    """`prepare_model` from the volume that the request names."""
    with open_volume(request.model, Path()) as volume:
        return prepare_model(request, InputVolume(request, volume), say)


def prepare_model(request: PreparationRequest, source: Source, say: Callable[[str], None]) -> dict[str, Path]:
    """Prepare a model on one rank. Returns the files written, by name: model, epsilon, delta.

    With epsilon or delta as a volume the other one, too, is averaged with the velocity: as a volume or by its rule of
    the velocities as they came.

    say: prints a line about the grid or a file.

    Raises InputError for an error in the request or the model, or too little memory, FathometerError where the system
    refuses to write; a file that exists is then unchanged, or replaced by a complete one.
    """
    files, strategy = {"model": request.output}, Strategy.of(request.write)
    for name in ("epsilon", "delta"):
        if getattr(request, name) is not None:
            files[name] = request.output.with_name(f"{request.output.stem}-{name}{request.output.suffix}")
    for path in files.values():
        check_writable(path, strategy, 1)
        require_replaceable(path)
        for read in source.paths:
            _require_other(path, read)
    _check_mean(request, source)
    grid = PreparationPlan(request, source.grid).result
    for path in files.values():
        check_stored(path, volume_info(grid, np.dtype(np.float32), ""), strategy)
    with given_parameters(request, source.grid, source.axes) as given:
        for path, parameter in itertools.product(files.values(), given.values()):
            _require_other(path, parameter.path)
        properties, plan = _prepared(request, source, given, say)
    for name, path in files.items():
        unit = (source.unit or "") if name == "model" else ""
        info = replace(
            volume_info(plan.result, properties[name].dtype, unit, source.place),
            unit=unit or None,
            made=_made(request),
        )
        block = properties[name].reshape(info.shape)
        write_volume(path, info, block, [0] * block.ndim, MPI.COMM_SELF, strategy)
        low, high = (float(end) + 0.0 for end in (properties[name].min(), properties[name].max()))  # -0 becomes 0
        say(f"{path}: {_description(plan.result)}, {low:g} to {high:g} {unit}".rstrip())
        if name == "model" or not isinstance(getattr(request, name), Constant):  # which asks for one value
            for note in equal_notes(f"values of {path}", low, high, unit):
                say(f"note: {note}")
    return files


def _made(request: PreparationRequest) -> tuple[str, ...]:
    """Lines on how the model was made, for its text."""
    lines = [f"Fathometer {__version__}: fathometer prepare, of {Path(request.model).name}"]
    for what, lengths in (
        ("Smoothed by a Gaussian of standard deviation", request.smooth),
        ("Cells of", request.spacing),
    ):
        if lengths is not None:
            lines.append(f"{what} {', '.join(f'{length:g}' for length in lengths)} m")
    return tuple(lines)


def _require_other(path: Path, read: Path) -> None:
    """Raises InputError where a file that is written would replace one that is read."""
    if atomic.replaces(path, read):
        raise InputError(f"{path}: would replace {read}, which is read; allowed: another name")


def _check_mean(request: PreparationRequest, source: Source) -> None:
    """Raises InputError for a mean of no velocity, and for one of which nothing is the mean."""
    if request.mean is not None and not source.velocity:
        raise InputError("--mean: found with --units none; needed: a velocity")
    if request.mean is not None and not (request.smooth or request.spacing):
        raise InputError(
            f"--mean: found {request.mean}, but nothing is averaged; needed: --smooth, or --spacing of a volume"
        )


def _prepared(
    request: PreparationRequest, source: Source, given: Mapping[str, GivenParameter], say: Callable[[str], None]
) -> tuple[dict[str, Floats], PreparationPlan]:
    """The properties by name on the resulting grid, float32 [x, y, z], and the plan that has this grid."""
    say(f"{request.model}: {_description(source.grid)}")
    for note in source.notes:
        say(f"note: {note}")
    if lost := source.place.lost_in(request.output):
        say(f"note: {lost}")
    plan = PreparationPlan(request, source.grid)
    plan.require_memory(source.itemsize)
    told = len(source.notes)
    values = source.read(plan.box)
    for note in source.notes[told:]:
        say(f"note: {note}")
    floor = None
    if request.sea_floor is not None:
        floor = request.sea_floor.depths(values, plan.read)
        finite = floor[np.isfinite(floor)]
        say(f"sea floor at {finite.min():g} to {finite.max():g} m")
    wanted: dict[str, Rule | Given | None] = {"epsilon": request.epsilon, "delta": request.delta}
    medium = {"model": values}
    if given:
        below = rock(floor, plan.read) if floor is not None else True
        rules = {name: rule for name, rule in wanted.items() if not isinstance(rule, Given)}
        medium |= _by_rules(rules, values, below) | {name: one.read(plan.box) for name, one in given.items()}
        for note in (note for one in given.values() for note in one.notes):
            say(f"note: {note}")
    if any(plan.deviation) or plan.inner.spacing != plan.read.spacing:
        medium = _averaged(medium, (request.mean or source.mean) if source.velocity else means.VELOCITY, floor, plan)
    else:
        medium = {name: part[tuple(slice(*ends) for ends in plan.core)] for name, part in medium.items()}
    properties = {name: np.pad(part, plan.pad, mode="edge") for name, part in medium.items()}
    if given:
        properties["epsilon"], notes = within_limits(properties["epsilon"], properties["delta"])
        for note in notes:
            say(f"note: {note}")
    elif any(wanted.values()):
        below = rock(_floor_on(plan.result, floor, plan), plan.result) if floor is not None else True
        rules = {name: rule for name, rule in wanted.items() if not isinstance(rule, Given)}
        properties |= _by_rules(rules, properties["model"], below)
        check_well_posed(properties["epsilon"], properties["delta"], plan.result)
    return properties, plan


def _by_rules(rules: Mapping[str, Rule | None], vp: Floats, below: npt.NDArray[np.bool_] | bool) -> dict[str, Floats]:
    """Parameters by name, float32 [x, y, z], of velocities (m/s) by rules, 0 by none, and 0 where not `below` the sea
    floor."""
    return {name: np.where(below, (rule or Constant(0.0))(vp), np.float32(0)) for name, rule in rules.items()}


def _averaged(
    medium: dict[str, Floats], mean: str, floor: npt.NDArray[np.float64] | None, plan: PreparationPlan
) -> dict[str, Floats]:
    """The medium (model, or model, epsilon and delta; float32 [x, y, z] of the box) smoothed and regridded to the inner
    grid, as one of the means (means.MEANS) of what it consists of."""

    def average(quantity: Floats) -> Floats:
        """Within the range of the quantity: low-passed edges overshoot, and a slowness below 0 has no velocity."""
        result = _on_inner_grid(quantity, floor, plan)
        return np.clip(result, quantity.min(), quantity.max(), out=result)

    vp = medium["model"]
    velocity = means.to_velocity(mean, average(means.of_velocity(mean, vp)))
    result = {"model": np.clip(velocity, vp.min(), vp.max(), out=velocity)}
    if "delta" in medium:
        result["delta"] = average(medium["delta"])
        excess = average(means.excess(mean, vp, medium["epsilon"], medium["delta"]))
        result["epsilon"] = means.to_epsilon(mean, result["model"], result["delta"], excess)
    return result


def _on_inner_grid(values: Floats, floor: npt.NDArray[np.float64] | None, plan: PreparationPlan) -> Floats:
    """Values [x, y, z] of the box, smoothed and regridded to the inner grid.

    Where the sea floor is given, water and rock are regridded separately, each continued into the other by its value at
    the sea floor, so that the edge between them stays sharp.
    """
    mask = None if floor is None else rock(floor, plan.read)
    if any(plan.deviation):
        values = smoothing.smoothed(values, plan.deviation, mask)
    if floor is None or mask is None or plan.inner.spacing == plan.read.spacing:
        return _regridded(values, plan)
    first = np.argmax(mask, axis=2)[:, :, None]
    top, bottom = (np.take_along_axis(values, np.maximum(first - shift, 0), 2) for shift in (0, 1))
    below = _regridded(np.where(mask, values, top), plan)
    above = _regridded(np.where(mask, bottom, values), plan)
    return np.where(rock(_floor_on(plan.inner, floor, plan), plan.inner), below, above)


def _regridded(values: Floats, plan: PreparationPlan) -> Floats:
    """Values [x, y, z] on the inner grid, from those of the box."""
    for axis in plan.read.axes:
        first, spacing = plan.inner.origin[axis], plan.inner.spacing[axis]
        if spacing == plan.read.spacing[axis]:
            values = values.take(np.arange(*plan.core[axis]), axis)
        else:
            positions = first + spacing * np.arange(plan.inner.shape[axis], dtype=np.float64)
            values = regridding.regrid(values, axis, plan.read.origin[axis], plan.read.spacing[axis], positions)
    return values


def _floor_on(grid: Grid, floor: npt.NDArray[np.float64], plan: PreparationPlan) -> npt.NDArray[np.float64]:
    """Sea-floor depths (nx, ny), m, of the columns of another grid: those of the nearest columns of the box."""
    columns = []
    for axis in (0, 1):
        positions = grid.origin[axis] + grid.spacing[axis] * np.arange(grid.shape[axis])
        cells = np.rint((positions - plan.read.origin[axis]) / plan.read.spacing[axis]).astype(np.int64)
        lo, hi = plan.core[axis]
        columns.append(np.clip(cells, lo, hi - 1))
    return floor[np.ix_(*columns)]


def _description(grid: Grid) -> str:
    """Cells, spacing and origin of a grid as text."""
    cells, lengths, origin = (
        [numbers[axis] for axis in grid.axes] for numbers in (grid.shape, grid.spacing, grid.origin)
    )
    return f"{times(cells)} cells of {times(lengths)} m from ({', '.join(f'{place:g}' for place in origin)}) m"
