"""Pictures of a volume: the section of a 2D grid or three orthogonal slices, at one scale and true aspect.

An image is drawn in grey, or in red, white and blue, and the velocity beside or below it at the same scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.base.display import Display
from fathometer.base.errors import InputError
from fathometer.pictures import sheet
from fathometer.pictures.colours import (
    CLIP_PERCENTILE,
    SIGNS,
    full_range,
    property_colours,
    seismic_colours,
    symmetric_range,
)
from fathometer.pictures.cube import lay_out_cube
from fathometer.pictures.gain import below_water, depth_gain, gain_words, interval_velocities
from fathometer.pictures.panel_layout import Labels, Layer, lay_out
from fathometer.pictures.plane import Blocks, Grid, Plane, Slicer, Values, grid_of, planes_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

BALANCED_LABEL = "amplitude after gain (1: clip)"
EVEN_SIGNS = 0.2  # of the larger one's magnitude: what the smallest and largest value of amplitudes both exceed


def volume_figure(
    slicer: Slicer,
    grid: Grid,
    labels: Labels,
    at: Sequence[float] | None = None,
    display: Display | None = None,
) -> Figure:
    """The figure of one volume, whose values on a plane are those that `slicer` returns; at: x, y, z in m.

    Amplitudes, which have both signs to about the same extent, are drawn in grey or by `display`, clipped, and the
    labels say how; other values in colour from the smallest to the largest. InputError for a display of amplitudes
    where there are none.
    """
    display = display or Display()
    planes = planes_of(grid, at)
    parts = tuple(slicer(plane) for plane in planes)
    low, high = full_range(list(parts))
    with sheet.style():
        if low < 0.0 < high and min(-low, high) > EVEN_SIGNS * max(-low, high):
            everywhere = [np.ones(part.shape, np.bool_) for part in parts]
            label = labels.label.replace("value", "amplitude", 1)
            layer = _amplitudes(planes, parts, everywhere, display, label)
            words = gain_words(display.gain, display.clip or CLIP_PERCENTILE, "time" if labels.in_time else "depth")
            labels = labels.noted(f"{words}; {SIGNS[display.colours]}")
        elif replace(display, cube=False) == Display():
            layer = Layer(parts, property_colours(), (low, high), smooth=False, label=labels.label)
        else:
            raise InputError(
                f"--gain, --clip and --colours: found with {labels.title}, whose values are {low:g} to {high:g} where "
                "they are drawn; allowed: of amplitudes, which have both signs to about the same extent"
            )
        if display.cube and len(planes) == 3:
            return lay_out_cube(grid, planes, layer, labels)
        return lay_out(grid, planes, [layer], labels)


def _amplitudes(
    planes: Sequence[Plane], parts: Sequence[Values], seen: Sequence[Mask], display: Display, label: str
) -> Layer:
    """Amplitudes on planes, with the gain of `display`; seen: of each, the cells that set gain and clip."""
    percentile = display.clip or CLIP_PERCENTILE
    sections = [number for number, plane in enumerate(planes) if plane.along == 2]
    if display.gain != "balance":
        clip = symmetric_range([part[cells] for part, cells in zip(parts, seen, strict=True)], percentile)
        return Layer(tuple(parts), seismic_colours(display.colours), (-clip, clip), smooth=True, label=label)
    gain = depth_gain([parts[n] for n in sections], [seen[n] for n in sections])
    # A map has the gain of its depth, a section that of every depth.
    shown = [
        part * (gain if plane.along == 2 else gain[plane.index]) for plane, part in zip(planes, parts, strict=True)
    ]
    clip = symmetric_range([shown[n][seen[n]] for n in sections], percentile)
    scaled = tuple(part / clip for part in shown)
    return Layer(scaled, seismic_colours(display.colours), (-1.0, 1.0), smooth=True, label=BALANCED_LABEL)


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
    colours: str = "grey",
) -> Figure:
    """The figure that `image_picture` writes."""
    if image.shape != vp.shape:
        raise ValueError(f"image {image.shape} and velocity {vp.shape} have different shapes")
    grid = grid_of(image.shape, spacing, origin)
    planes = planes_of(grid, at)
    velocity = tuple(plane.of(vp) for plane in planes)
    parts: list[Values] = []
    seen: list[Mask] = []
    water = False
    for plane, speed in zip(planes, velocity, strict=True):
        part = plane.of(image)
        cells = np.ones(part.shape, np.bool_)
        if plane.along == 2:
            # The RMS velocity grows slowly below the water: the sea floor is where that of a layer does.
            layers_speed = interval_velocities(speed, grid.origin[2], grid.spacing[2]) if in_time else speed
            faded, cells = below_water(part, layers_speed)
            water, part = water or not np.array_equal(faded, part, equal_nan=True), faded
        parts.append(part)
        seen.append(cells)
    display = Display(colours, "balance")
    words = gain_words(display.gain, CLIP_PERCENTILE, "time" if in_time else "depth")
    note = f"{words}; {'faded out in the water; ' if water else ''}{SIGNS[colours]}"
    label = "RMS velocity (m/s)" if in_time else "vp (m/s)"
    with sheet.style():
        layers = [
            _amplitudes(planes, parts, seen, display, ""),
            Layer(velocity, property_colours(), full_range(list(velocity)), smooth=False, label=label),
        ]
        return lay_out(grid, planes, layers, Labels(title, note=note, in_time=in_time), sources, receivers)


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
    """Draw an image in grey and the velocity in colours beside or below it, depth down, true aspect, into a file.

    An image in time has its times down, at a fixed height.

    path: .png, .pdf or .svg. image and vp (m/s): (nx, ny, nz), axes x, y, z, as arrays or read by blocks; with ny = 1
    the section is drawn, else three slices through `at` (x, y, z in m) or the centre, and the velocity on the vertical
    ones. spacing, origin: x, y, z in m. sources and receivers: (n, 3) in m or None. in_time: the third axis is two-way
    time, in s, and vp the RMS velocity.

    For display the image is balanced over depth (gain.depth_gain), clipped at the 99th percentile of its magnitude
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
    """Draw one volume (nx, ny, nz) into a file: the section (ny = 1) or three slices.

    `label` names the values with their unit; spacing, origin and `at`: x, y, z in m. Raises as
    `image_picture`.
    """
    grid = grid_of(values.shape, spacing, origin)
    sheet.save(volume_figure(lambda plane: plane.of(values), grid, Labels(title, label), at), path)
