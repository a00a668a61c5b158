"""Picture of any file that can be read: `fathometer info FILE --picture OUT.png`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fathometer.base.display import Display
from fathometer.base.errors import InputError
from fathometer.pictures.gather import MOST_TRACES, gather_picture, receiver_line, signed_offsets
from fathometer.pictures.panel_layout import CELLS, Labels
from fathometer.pictures.plane import Grid, Plane, Values
from fathometer.pictures.sheet import save
from fathometer.pictures.volume import volume_figure
from fathometer.storage.contents import Kind, contents_of
from fathometer.storage.traces.segy import TraceTable, read_traces, scan
from fathometer.storage.volumes.axis_labels import axis_of
from fathometer.storage.volumes.block import SPACE_AXES
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.volume import Volume, open_volume, split_reference

NUMBERS = {"x": 0, "y": 1, "z": 2, "t": 2}  # of axes


def picture_of(
    path: Path,
    reference: str,
    directory: Path,
    axes: str | None = None,
    wanted: Kind | None = None,
    interval: float | None = None,
    display: Display | None = None,
) -> None:
    """Draw the volume, the first shot of the gathers, or the survey of the index that `reference` names in `directory`.

    Of a volume only the planes shown are read. `axes` ("xyz", "zx", …, slowest first) overrides the order that the
    file's labels give; without either it is x, (y,) z. `wanted` and `interval` as of `describe`. path: .png, .pdf or
    .svg. InputError for what `display` asks and the file has not.
    Raises InputError as `open_volume` and `scan` do, and FathometerError where the picture can't be written.
    """
    contents = contents_of(reference, directory, wanted)
    display = display or Display()
    if contents.kind == "volume" and display.gain == "agc":
        raise InputError(f"--gain agc: found with the volume {reference}; allowed: of gathers, of volumes balance")
    if contents.kind != "volume" and display.cube:
        raise InputError(
            f"--cube: found with {reference}, which holds no volume; allowed: of volumes in three dimensions"
        )
    if contents.kind == "index":
        if display != Display():
            raise InputError(f"--gain, --clip and --colours: found with the index {reference}; allowed: of other files")
        from fathometer.pictures.index_picture import index_picture

        index_picture(path, contents.path)
        return
    if contents.kind == "gathers":
        _shot_picture(path, scan(contents.path, interval), display)
        return
    file, key = split_reference(reference, directory)
    with open_volume(contents.reference, directory, steps=True) as volume:
        _volume_picture(path, volume, f"{file.name}:{key}" if key else file.name, axes, display)


def _volume_picture(path: Path, volume: Volume, name: str, axes: str | None, display: Display) -> None:
    info = volume.info
    if display.cube and (len(info.shape) < SPACE_AXES or 1 in info.shape):
        raise InputError(f"--cube: found with {volume.path} of two dimensions; allowed: of volumes in three dimensions")
    known = axes or {label.strip().lower() for label in info.labels or ()}
    if info.stepped and (len(info.shape) > SPACE_AXES or "z" in known):
        shape_words = " x ".join(map(str, info.shape))
        raise InputError(
            f"{volume.path}: found {shape_words} values, the first axis of steps; allowed for a picture: a volume of "
            "one step"
        )
    order = axis_order(info.labels, len(info.shape), axes)
    shape, spacing, origin = [1, 1, 1], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]
    # Without a spacing nothing tells times from depths.
    depth = "depth" if info.spacing else "z"
    names = ["x", "y", depth]
    for dimension, axis in enumerate(order):
        shape[axis] = info.shape[dimension]
        spacing[axis] = info.spacing[dimension] if info.spacing else 1.0
        origin[axis] = info.origin[dimension] if info.origin else 0.0
        if info.labels and info.labels[dimension]:
            names[axis] = depth if info.labels[dimension].lower() == "z" else info.labels[dimension]
    in_time, down = False, order.index(2)
    if info.axis_units[down] == "s":
        in_time = info.spacing is not None
        if isinstance(volume, SegyVolume) and volume.times is not None:  # its places may have no spacing
            (origin[2], spacing[2]), in_time = volume.times, True
    grid = Grid(
        (shape[0], shape[1], shape[2]),
        (spacing[0], spacing[1], spacing[2]),
        (origin[0], origin[1], origin[2]),
    )

    def slicer(plane: Plane) -> Values:
        lo = [plane.index if axis == plane.fixed else 0 for axis in order]
        hi = [plane.index + 1 if axis == plane.fixed else n for axis, n in zip(order, info.shape, strict=True)]
        block = volume.read(lo, hi)
        if plane.fixed in order:
            block = block.squeeze(order.index(plane.fixed))
        remaining = [axis for axis in order if axis != plane.fixed]
        return block if remaining == [plane.across, plane.along] else block.T

    labels = Labels(
        title=name,
        label=f"value ({info.unit or 'no unit in the file'})",
        axes=(names[0], names[1], names[2]),
        unit="m" if info.spacing else CELLS,
        in_time=in_time,
    )
    save(volume_figure(slicer, grid, labels, display=display), path)


def axis_order(labels: Sequence[str] | None, dimensions: int, axes: str | None = None) -> tuple[int, ...]:
    """The axis x, y or z (0, 1, 2) of each of a file's dimensions: by `axes`, by its labels, or x, (y,) z."""
    names = list(axes) if axes else [axis_of(label) for label in labels or ()]
    known = tuple(NUMBERS[name] for name in names if name in NUMBERS)
    needed = {0, 1, 2} if dimensions == 3 else {0, 2}
    if len(known) == dimensions and set(known) == needed:
        return known
    return (0, 1, 2) if dimensions == 3 else (0, 2)


def _shot_picture(path: Path, table: TraceTable, display: Display) -> None:
    """The first shot; of one with several lines of receivers the line nearest the source."""
    same = (table.ffid == table.ffid[0]) & np.all(table.source == table.source[0], axis=1)
    shot = np.flatnonzero(same)
    receivers = table.receiver[shot]
    title, label = f"{table.path.name}: field record {table.ffid[0]}", "offset (m)"
    across, line = receiver_line(table.source[0], receivers)
    positions = signed_offsets(table.source[shot], receivers)
    located = bool(np.any(positions))
    if len(line) < len(shot):
        title += f", the {len(line)} traces at {'xy'[across]} = {receivers[line[0], across]:g} m of {len(shot)}"
        positions, label = receivers[:, 1 - across], f"receiver {'yx'[across]} (m)"
    line = line[:: -(-len(line) // MOST_TRACES)]
    gather_picture(
        path,
        read_traces(table.layout, shot[line]),
        table.interval,
        float(table.delays[shot[line[0]]]),
        positions[line] if located else None,
        title,
        label=label,
        geometry=(table.source[:1], receivers) if located else None,
        display=display,
    )
