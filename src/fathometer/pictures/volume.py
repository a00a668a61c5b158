"""Pictures of a volume: the section of a 2D grid or three orthogonal slices, at one scale and true aspect.

An image is drawn in black and white over a property in colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.pictures import sheet
from fathometer.pictures.colours import (
    background_colours,
    below_water,
    depth_gain,
    full_range,
    interval_velocities,
    overlay_colours,
    property_colours,
    symmetric_range,
)
from fathometer.pictures.panel_layout import Labels, Layer, lay_out
from fathometer.pictures.plane import Blocks, Grid, Slicer, Values, grid_of, planes_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = npt.NDArray[np.float64]

BALANCED = "image balanced over depth for display, not on file; black: positive"


def volume_figure(
    slicer: Slicer,
    grid: Grid,
    labels: Labels,
    at: Sequence[float] | None = None,
) -> Figure:
    """The figure of one volume, whose values on a plane are those that `slicer` returns; at: x, y, z in m.

    Values of both signs to about the same extent (an image) are drawn in grey, clipped; others in colour from the
    smallest to the largest value.
    """
    planes = planes_of(grid, at)
    parts = tuple(slicer(plane) for plane in planes)
    low, high = full_range(list(parts))
    with sheet.style():
        if low < 0.0 < high and min(-low, high) > 0.2 * max(-low, high):
            import matplotlib

            clip = symmetric_range(list(parts))
            layer = Layer(parts, matplotlib.colormaps["gray_r"], (-clip, clip), smooth=True)
        else:
            layer = Layer(parts, property_colours(), (low, high), smooth=False)
        return lay_out(grid, planes, [layer], labels)


def image_figure(
    image: Values | Blocks,
    vp: Values | Blocks,
    spacing: Sequence[float],
    origin: Sequence[float],
    sources: Points | None,
    receivers: Points | None,
    title: str,
    at: Sequence[float] | None = None,
    in_time: bool = False,
) -> Figure:
    """The figure that `image_picture` writes."""
    if image.shape != vp.shape:
        raise ValueError(f"image {image.shape} and velocity {vp.shape} have different shapes")
    grid = grid_of(image.shape, spacing, origin)
    planes = planes_of(grid, at)
    velocity = tuple(plane.of(vp) for plane in planes)
    shown, sections, below = [], [], []
    for plane, speed in zip(planes, velocity, strict=True):
        part = plane.of(image)
        if plane.along == 2:
            # The RMS velocity grows slowly below the water: the sea floor is where that of a layer does.
            layers_speed = interval_velocities(speed, grid.origin[2], grid.spacing[2]) if in_time else speed
            part, cells = below_water(part, layers_speed)
            sections.append(part)
            below.append(cells)
        shown.append(part)
    gain = depth_gain(sections, below)
    # A map has the gain of its depth, a section that of every depth.
    shown = [
        part * (gain if plane.along == 2 else gain[plane.index]) for plane, part in zip(planes, shown, strict=True)
    ]
    clip = symmetric_range([(part * gain)[cells] for part, cells in zip(sections, below, strict=True)])
    label, note = ("RMS velocity (m/s)", BALANCED.replace("depth", "time")) if in_time else ("vp (m/s)", BALANCED)
    with sheet.style():
        layers = [
            Layer(velocity, background_colours(), full_range(list(velocity)), smooth=False),
            Layer(tuple(shown), overlay_colours(), (-clip, clip), smooth=True),
        ]
        return lay_out(grid, planes, layers, Labels(title, label, note=note, in_time=in_time), sources, receivers)


def image_picture(
    path: Path,
    image: Values | Blocks,
    vp: Values | Blocks,
    spacing: Sequence[float],
    origin: Sequence[float],
    sources: Points | None,
    receivers: Points | None,
    title: str,
    at: Sequence[float] | None = None,
    in_time: bool = False,
) -> None:
    """Draw an image in black and white over the velocity in colour, depth down, true aspect, into a PNG.

    An image in time has its times down, at a fixed height.

    image and vp (m/s): (nx, ny, nz), axes x, y, z, as arrays or read by blocks; with ny = 1 the section is drawn, else
    three slices through `at` (x, y, z in m) or the centre. spacing, origin: x, y, z in m. sources and
    receivers: (n, 3) in m or None. in_time: the third axis is two-way time, in s, and vp the RMS velocity.

    For display the image is balanced over depth (colours.depth_gain), clipped at the 99th percentile of its magnitude
    below the water, and faded in the water; a note on the picture says so.
    Raises ValueError for shapes that don't fit, FathometerError where the file can't be written.
    """
    sheet.save(
        image_figure(
            image=image,
            vp=vp,
            spacing=spacing,
            origin=origin,
            sources=sources,
            receivers=receivers,
            title=title,
            at=at,
            in_time=in_time,
        ),
        path,
    )


def volume_picture(
    path: Path,
    values: Values,
    spacing: Sequence[float],
    origin: Sequence[float],
    label: str,
    title: str,
    at: Sequence[float] | None = None,
) -> None:
    """Draw one volume (nx, ny, nz) into a PNG: the section (ny = 1) or three slices.

    `label` names the values with their unit; spacing, origin and `at`: x, y, z in m. Raises as
    `image_picture`.
    """
    grid = grid_of(values.shape, spacing, origin)
    sheet.save(volume_figure(lambda plane: plane.of(values), grid, Labels(title, label), at), path)
