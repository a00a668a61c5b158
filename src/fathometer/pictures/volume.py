"""Pictures of a volume: the section of a 2D grid or three orthogonal slices, at one scale and true aspect.

Drawn are layers on top of each other: a property in colour, and an image in black and white over it.
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
    overlay_colours,
    property_colours,
    symmetric_range,
)
from fathometer.pictures.layout import Coat, Names, lay_out
from fathometer.pictures.plane import Blocks, Grid, Slicer, Values, grid_of, planes_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = npt.NDArray[np.float64]

BALANCED = "image balanced over depth for display, not on file; black: positive"


def volume_figure(
    slicer: Slicer,
    grid: Grid,
    names: Names,
    at: Sequence[float] | None = None,
) -> Figure:
    """The figure of a plain volume, whose values on a plane `slicer` gives when they are shown.

    What has both signs about equally (an image) is drawn in grey, clipped; anything else in colour from its
    smallest to its largest value.
    """
    planes = planes_of(grid, at)
    parts = tuple(slicer(plane) for plane in planes)
    low, high = full_range(list(parts))
    with sheet.look():
        if low < 0.0 < high and min(-low, high) > 0.2 * max(-low, high):
            import matplotlib

            clip = symmetric_range(list(parts))
            coat = Coat(parts, matplotlib.colormaps["gray_r"], (-clip, clip), smooth=True)
        else:
            coat = Coat(parts, property_colours(), (low, high), smooth=False)
        return lay_out(grid, planes, [coat], names)


def image_figure(
    image: Values | Blocks,
    vp: Values | Blocks,
    spacing: Sequence[float],
    origin: Sequence[float],
    sources: Points | None,
    receivers: Points | None,
    title: str,
    at: Sequence[float] | None = None,
) -> Figure:
    """The figure that `image_picture` writes."""
    if image.shape != vp.shape:
        raise ValueError(f"image {image.shape} and velocity {vp.shape} have different shapes")
    grid = grid_of(image.shape, spacing, origin)
    planes = planes_of(grid, at)
    velocity = tuple(plane.of(vp) for plane in planes)
    seen, sections, judged = [], [], []
    for plane, speed in zip(planes, velocity, strict=True):
        part = plane.of(image)
        if plane.along == 2:
            part, judge = below_water(part, speed)
            sections.append(part)
            judged.append(judge)
        seen.append(part)
    gain = depth_gain(sections, judged)
    # A gain of its depth for a map, of every depth for a section.
    seen = [part * (gain if plane.along == 2 else gain[plane.index]) for plane, part in zip(planes, seen, strict=True)]
    clip = symmetric_range([(part * gain)[good] for part, good in zip(sections, judged, strict=True)])
    with sheet.look():
        coats = [
            Coat(velocity, background_colours(), full_range(list(velocity)), smooth=False),
            Coat(tuple(seen), overlay_colours(), (-clip, clip), smooth=True),
        ]
        return lay_out(grid, planes, coats, Names(title, "vp (m/s)", note=BALANCED), sources, receivers)


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
) -> None:
    """Draw an image in black and white over the velocity in colour, depth down, true aspect, into a PNG.

    image and vp (m/s): (nx, ny, nz), axes x, y, z, as arrays or read by blocks; ny = 1 draws the
    section, else three slices through `at`
    (x, y, z in m) or the centre. spacing, origin: x, y, z in m. sources and receivers: (n, 3) in m or None.
    For display the image is balanced over depth (colours.depth_gain), clipped at the 99th percentile of its magnitude
    below the water, and faded in the water; a note on the picture says so.
    Raises ValueError for shapes that don't fit, FathometerError where the file can't be written.
    """
    sheet.save(image_figure(image, vp, spacing, origin, sources, receivers, title, at), path)


def volume_picture(
    path: Path,
    values: Values,
    spacing: Sequence[float],
    origin: Sequence[float],
    label: str,
    title: str,
    at: Sequence[float] | None = None,
) -> None:
    """Draw a plain volume (nx, ny, nz) into a PNG: the section (ny = 1) or three slices.

    `label` names the values with their unit; spacing, origin and `at`: x, y, z in m. Raises as
    `image_picture`.
    """
    grid = grid_of(values.shape, spacing, origin)
    sheet.save(volume_figure(lambda plane: plane.of(values), grid, Names(title, label), at), path)
