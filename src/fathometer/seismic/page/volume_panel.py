"""Panels of volumes: the image, with the velocity below it as a choice, or the velocity alone.

Volumes are averaged over blocks of cells (decimation.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.pictures.colours import CLIP_PERCENTILE, full_range, symmetric_range
from fathometer.pictures.gain import MOST_GAIN, below_water, depth_gain
from fathometer.pictures.volume import BALANCED_LABEL
from fathometer.report.decimation import Read, as_bytes, averaged, factors_for, first_centre, span, three
from fathometer.runs.application import Panel
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.page.run_data import FILES, RunData, times
from fathometer.storage.volumes.volume import Volume, open_volume, reference_at

MOST_IMAGE, MOST_PROPERTY = 1_000_000, 250_000  # values on a page
BALANCED = (
    f"Black, or blue: positive. For display only, the image is balanced over {{}} (gain up to {MOST_GAIN}), clipped at "
    f"the {CLIP_PERCENTILE:g}th percentile of its magnitude and faded out in the water; read amplitudes from the file."
)


def image_panel(run: RunData) -> Panel:
    """The image, Laplacian-filtered where that was written."""
    kind = "laplacian" if "laplacian" in run.files else "image"
    if kind not in run.files:
        raise InputError("no image was written")
    return depth_panel(run, kind, f"The image{', Laplacian-filtered' if kind == 'laplacian' else ''}")


def depth_panel(run: RunData, kind: str, title: str) -> Panel:
    """The image in depth of that kind, with the velocity of the model, where there is one."""
    path = run.files[kind]
    with open_volume(path.name, path.parent) as volume, ledger.file(FILES, "read"):
        shape = three(volume.info.shape)
        factors, image = averaged_volume(volume, MOST_IMAGE)
    earth, note = _earth_of_shape(run, shape)
    spacing, origin = _spacing_and_origin(earth, volume.info.spacing, volume.info.origin)
    columns: npt.NDArray[np.floating] = image.reshape(-1, image.shape[2])
    if earth is None:
        rock = np.ones(columns.shape, np.bool_)
        velocity = None
    else:
        with ledger.file(FILES, "read"):
            vp = averaged(earth.vp, shape, factors)
        columns, rock = below_water(columns, vp.reshape(columns.shape))
        velocity = property_bytes(
            vp, [d * f for d, f in zip(spacing, factors, strict=True)], first_centre(origin, spacing, factors)
        )
    codes = balanced_codes(columns, rock)
    caption = BALANCED.format("depth")
    if math.prod(factors) > 1:
        caption += f" Shown are means of {times(factors)} cells."
    return {
        "kind": "volume",
        "title": title,
        "caption": f"{caption} {note}".strip(),
        "file": str(path),
        "span": span(shape, spacing, origin),
        "image": image_bytes(codes.reshape(image.shape), spacing, origin, factors),
        "property": velocity,
    }


def averaged_volume(volume: Volume, most: int) -> tuple[tuple[int, int, int], npt.NDArray[np.float64]]:
    """Means over blocks of cells (x, y, z), at most `most` of them, and how many cells are in one along each axis.

    Where the file has levels of box means, they are made of one of these: factors are then multiples of its cells.
    """
    shape = three(volume.info.shape)
    factors = factors_for(shape, most)
    flat = len(volume.info.shape) == 2
    level = min(volume.levels, min(f for axis, f in enumerate(factors) if not (flat and axis == 1)).bit_length() - 1)
    cells = three([1 << level] * len(volume.info.shape))  # of the volume, in one of the level
    if not level or any(n < 1 << level for n in volume.info.shape):
        return factors, averaged(cells_of(volume), shape, factors)
    x, y, z = (-(-f // c) * c for f, c in zip(factors, cells, strict=True))
    whole = three([n // f * f // c for n, f, c in zip(shape, (x, y, z), cells, strict=True)])
    reference = reference_at(volume.path.name, volume.path.parent, level)
    with open_volume(reference, volume.path.parent) as coarse:
        means = averaged(cells_of(coarse), whole, (x // cells[0], y // cells[1], z // cells[2]))
    return (x, y, z), means


def cells_of(volume: Volume) -> Read:
    """Reads boxes (x, y, z) of a volume of two or three axes; in two, y has one cell."""
    axes = (0, 2) if len(volume.info.shape) == 2 else (0, 1, 2)

    def cells(lo: Sequence[int], hi: Sequence[int]) -> npt.NDArray[np.floating]:
        box = [hi[a] - lo[a] for a in range(3)]
        return volume.read([lo[a] for a in axes], [hi[a] for a in axes]).reshape(box)

    return cells


def balanced_codes(columns: npt.NDArray[np.floating], rock: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """Codes 1 to 255, 128 for 0, of an image (columns, nz) balanced over depth; clipped by the cells of `rock`."""
    balanced = columns * depth_gain([columns], [rock])
    clip = symmetric_range([balanced[rock]])
    return np.clip(np.rint(128 + 127 * np.nan_to_num(balanced) / clip), 1, 255).astype(np.uint8)


def image_bytes(
    codes: npt.NDArray[np.uint8], spacing: Sequence[float], origin: Sequence[float], factors: Sequence[int]
) -> dict[str, Any]:
    """As `as_bytes`, of codes of an image after gain, with the scale of its colours."""
    return as_bytes(codes, spacing, origin, factors) | {"low": -1.0, "high": 1.0, "label": BALANCED_LABEL}


def _earth_of_shape(run: RunData, shape: tuple[int, ...]) -> tuple[EarthFiles | None, str]:
    """The model of an image of this shape, or None and a note why it is not available."""
    try:
        earth = run.earth()
        if earth.grid.shape != shape:
            raise InputError(f"the image has {times(shape)} cells, the model {times(earth.grid.shape)}")
    except (FathometerError, OSError) as error:
        if run.survey.model is None:
            return None, ""
        return None, f"The velocity is not shown: {error}."
    return earth, ""


def _spacing_and_origin(
    earth: EarthFiles | None, spacing: Sequence[float] | None, origin: Sequence[float] | None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Spacing and origin (x, y, z), m, of the model, else of the image's file."""
    if earth is not None:
        return earth.grid.spacing, earth.grid.origin
    if spacing is None:
        raise InputError("neither the model nor the image tells the size of a cell")
    start = origin if origin is not None else [0.0] * len(spacing)
    if len(spacing) == 2:
        return (spacing[0], spacing[0], spacing[1]), (start[0], 0.0, start[1])
    return tuple(spacing), tuple(start)


def model_panel(run: RunData) -> Panel:
    """The vertical P velocity alone."""
    earth = run.earth()
    shape, spacing, origin = earth.grid.shape, earth.grid.spacing, earth.grid.origin
    factors = factors_for(shape, MOST_PROPERTY)
    with ledger.file(FILES, "read"):
        vp = averaged(earth.vp, shape, factors)
    return {
        "kind": "volume",
        "title": "The model: vertical P velocity",
        "caption": f"Means of {times(factors)} cells." if math.prod(factors) > 1 else "",
        "file": ", ".join(map(str, earth.paths[:1])),
        "span": span(shape, spacing, origin),
        "image": None,
        "property": property_bytes(
            vp, [d * f for d, f in zip(spacing, factors, strict=True)], first_centre(origin, spacing, factors)
        ),
    }


def property_bytes(
    values: npt.NDArray[np.floating],
    spacing: Sequence[float],
    origin: Sequence[float],
    label: str = "vp (m/s)",
    least: float | None = None,
) -> dict[str, Any]:
    """A property [x, y, z] as bytes, averaged further to MOST_PROPERTY values.

    label: its name, with its unit. least: the first value of the colours; left out: the least value.
    """
    factors = factors_for(three(values.shape), MOST_PROPERTY)
    coarse = averaged(lambda lo, hi: values[lo[0] : hi[0], lo[1] : hi[1], lo[2] : hi[2]], three(values.shape), factors)
    low, high = full_range([coarse] if least is None else [coarse, np.array([least])])
    codes = np.rint(255 * (np.nan_to_num(coarse, nan=low) - low) / (high - low)).clip(0, 255).astype(np.uint8)
    return as_bytes(codes, spacing, origin, factors) | {"low": low, "high": high, "label": label}
