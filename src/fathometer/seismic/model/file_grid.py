"""Grid of the model: axes, spacing and origin from the survey and the headers of the model's files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fathometer.base.errors import InputError
from fathometer.base.formatting import number_of
from fathometer.grid.grid import Grid, Vector
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.model.axes import assumed_axes, labelled_axes, natural_axes
from fathometer.seismic.model.limits import CELLS, FARTHEST
from fathometer.seismic.model.placement import Placement
from fathometer.seismic.survey import ModelTable
from fathometer.storage.volumes.volume import Volume


def file_axes(survey: str, keys: ModelTable, volumes: Mapping[str, Volume]) -> str:
    """The axes of the files, slowest first: "xyz", "zx", ….

    Raises InputError where the files differ in shape, their labels are unknown or contradict [model] axes or each
    other, or their coordinates form no grid.

    Args:
        survey: the survey file, for messages. volumes: the open files, by property (vp, epsilon, delta).
    """
    first, volume = next(iter(volumes.items()))
    shape = volume.info.shape
    for name, other in volumes.items():
        if other.info.shape != shape:
            raise InputError(
                f"{survey}: [model] {name}: {other.path} has {_times(other.info.shape)} cells, "
                f"{first} ({volume.path}) has {_times(shape)}; allowed: the same shape"
            )
    key = f"{survey}: [model] axes"
    if keys.axes is not None and len(keys.axes) != len(shape):
        raise InputError(
            f'{key}: found "{keys.axes}", {len(keys.axes)} axes; {volume.path} has {len(shape)}: {_times(shape)} cells'
        )
    axes: str | None = keys.axes
    for other in volumes.values():  # what one says holds for the others
        axes = labelled_axes(key, other, axes) or axes
    axes = axes or natural_axes(len(shape))
    for other in volumes.values():
        labelled_axes(key, other, axes)
        reason = other.info.uneven or (other.info.unplaced if keys.spacing is None else "")
        if reason:
            also = "" if other.info.uneven else ", or [model] spacing"
            raise InputError(
                f"{survey}: [model]: {other.path}: {reason}; needed: coordinates of equal steps, in m{also}"
            )
    return axes


def assumed(keys: ModelTable, volumes: Mapping[str, Volume]) -> Volume | None:
    """The first file where nothing but their number says which axes the files have; None: something does."""
    if all(assumed_axes(volume, keys.axes) for volume in volumes.values()):
        return next(iter(volumes.values()))
    return None


def file_grid(
    survey: str,
    keys: ModelTable,
    axes: str,
    volumes: Mapping[str, Volume],
    placement: Placement | None = None,
    first: tuple[float, float] | None = None,
) -> Grid:
    """The grid of the model, without padding.

    placement: what the files' trace headers tell of the horizontal axes. first: x and y of the first cell (m) where
    neither the survey nor a file carries an origin.

    Raises InputError for a missing spacing, for spacings or origins that contradict each other or are out of range, and
    for an axis of one cell. Arguments as of `file_axes`; axes: its result.
    """
    volume = next(iter(volumes.values()))
    cells = dict(zip(axes, volume.info.shape, strict=True))
    spacing, origin = (_metres(survey, keys, what, axes, volumes, placement) for what in ("spacing", "origin"))
    if origin is None:
        firsts = _firsts(axes, volumes)
        x, y = first or (firsts.get("x", 0.0), firsts.get("y", 0.0))
        origin = (x, y if "y" in axes else 0.0, firsts.get("z", 0.0))
    if spacing is None and placement is not None:
        raise InputError(
            f"{survey}: [model] spacing: missing; {placement.known}, and nothing that along z; needed: [dz] alone, or "
            f"all of {', '.join(a for a in 'xyz' if a in axes)}"
        )
    if spacing is None:
        raise InputError(
            f"{survey}: [model] spacing: missing; needed, since {volume.path} carries none "
            f"(m, for {', '.join(a for a in 'xyz' if a in axes)})"
        )
    for name, count in cells.items():
        if count < 2:
            raise InputError(
                f"{survey}: [model]: {volume.path} has {_times(volume.info.shape)} cells, one along {name}; "
                "allowed: two or more along each axis; a 2D model has two axes, x and z"
            )
    shape: Index3 = (cells["x"], cells.get("y", 1), cells["z"])
    grid = Grid(shape, spacing, origin)
    for axis in grid.axes:
        if not CELLS[0] <= grid.spacing[axis] <= CELLS[1]:
            raise InputError(
                f"{survey}: [model] spacing: found {grid.spacing[axis]:g} m along {'xyz'[axis]}; "
                f"allowed: {CELLS[0]:g} to {CELLS[1]:g} m"
            )
        if not abs(grid.origin[axis]) <= FARTHEST:
            raise InputError(
                f"{survey}: [model] origin: found {grid.origin[axis]:g} m along {'xyz'[axis]}; "
                f"allowed: {-FARTHEST:g} to {FARTHEST:g} m"
            )
    return grid


def _metres(
    survey: str, keys: ModelTable, what: str, axes: str, volumes: Mapping[str, Volume], placement: Placement | None
) -> Vector | None:
    """Spacing or origin (x, y, z), m, from the survey and the files, which must not contradict each other."""
    names = [axis for axis in "xyz" if axis in axes]
    metres: dict[str, float] | None = None
    source = ""
    given = getattr(keys, what)
    if what == "spacing" and given is not None and len(given) == 1 and placement is not None:
        given = (*(placement.spacing[axis] for axis in names[:-1]), given[0])
    if given is not None:
        if len(given) != len(names):
            raise InputError(
                f"{survey}: [model] {what}: found {number_of(len(given), 'value')}; needed: "
                f"{len(names)}, for "
                f"{', '.join(names)}, since the model is {len(names)}D"
            )
        metres, source = dict(zip(names, given, strict=True)), "the survey"
    some = "partial" if what == "spacing" else "firsts" if given is None else ""  # an origin that is given overrules
    for volume in sorted(volumes.values(), key=lambda volume: getattr(volume.info, what) is None):
        carried = getattr(volume.info, what) or (getattr(volume.info, some) if some else None)
        if not carried or volume.info.in_time:  # times are no lengths
            continue
        values = {axis: value for axis, value in zip(axes, carried, strict=True) if value is not None}
        if metres is None:
            if len(values) == len(names):
                metres, source = values, str(volume.path)
            continue
        for axis in values:
            if not math.isclose(values[axis], metres[axis], rel_tol=1e-4, abs_tol=1e-6):
                raise InputError(
                    f"{survey}: [model] {what}: {volume.path} says {values[axis]:g} m along {axis}, "
                    f"{source} says {metres[axis]:g} m; is [model] axes right?"
                )
    if metres is None and what == "spacing" and placement is not None:
        steps = [dict(zip(axes, volume.info.partial, strict=False)).get("z") for volume in volumes.values()]
        if (step := next((step for step in steps if step is not None), None)) is not None:
            metres = {axis: placement.spacing[axis] for axis in names[:-1]} | {"z": step}
    if metres is None:
        return None
    # A 2D model has one y plane; its spacing enters nowhere.
    x, y, z = (metres.get(axis, metres["x"] if what == "spacing" else 0.0) for axis in "xyz")
    return x, y, z


def _firsts(axes: str, volumes: Mapping[str, Volume]) -> dict[str, float]:
    """First coordinates, m, by axis, of the first file that has those of some axes."""
    for volume in volumes.values():
        known = zip(axes, volume.info.firsts, strict=False)
        if any(volume.info.firsts) and not volume.info.in_time:
            return {axis: metres for axis, metres in known if metres is not None}
    return {}


def _times(shape: Sequence[int]) -> str:
    return " x ".join(str(n) for n in shape)
