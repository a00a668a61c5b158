"""Panels of a time migration's volumes: the image, with the RMS velocity as a choice, and the fold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.pictures.gain import below_water, interval_velocities
from fathometer.pictures.panel_layout import TIME_RATIO
from fathometer.report.decimation import Read, averaged, first_centre, span, three
from fathometer.runs.application import Panel
from fathometer.seismic.page.map_panel import Outline
from fathometer.seismic.page.run_data import FILES, RunData, times
from fathometer.seismic.page.volume_panel import (
    BALANCED,
    MOST_IMAGE,
    MOST_PROPERTY,
    averaged_volume,
    balanced_codes,
    cells_of,
    image_bytes,
    property_bytes,
)
from fathometer.storage.volumes.volume import Volume, open_volume

TWO_WAY_TIME = "two-way time (s)"
# What report/page.js needs of a vertical axis other than depth in m. ratio: height of a section over its width.
VERTICAL = MappingProxyType({"name": "time", "label": TWO_WAY_TIME, "unit": "s", "digits": 3, "ratio": TIME_RATIO})
RMS, FOLD = "RMS velocity (m/s)", "fold (traces)"

Values = npt.NDArray[np.floating]


@dataclass(frozen=True)
class TimeVolume:
    """An open volume over places and two-way times.

    Attributes:
        shape: cells along x, y, t. spacing, origin: m, m, s. read: boxes (x, y, t). volume: the file.
    """

    path: str
    shape: tuple[int, int, int]
    spacing: tuple[float, ...]
    origin: tuple[float, ...]
    read: Read
    volume: Volume


@contextmanager
def time_volume(run: RunData, kind: str) -> Iterator[TimeVolume]:
    """A result of a time migration on the image's grid, since not all formats tell places and times.

    Raises InputError where it was not written, cannot be read, or has another shape than the record says.
    """
    if kind not in run.files:
        raise InputError(f"no {kind} was written")
    path, grid = run.files[kind], run.image
    assert grid is not None
    with open_volume(path.name, path.parent) as volume, ledger.file(FILES, "read"):
        shape = three(volume.info.shape)
        if shape != grid.shape:
            raise InputError(
                f"{path}: holds {times(shape)} samples now, the record {times(grid.shape)}: it has been replaced"
            )
        yield TimeVolume(str(path), shape, grid.spacing, grid.origin, cells_of(volume), volume)


def outline(run: RunData) -> Outline:
    """Of the image's places."""
    assert run.image is not None
    return span(run.image.shape, run.image.spacing, run.image.origin)[:2]


def time_image_panel(run: RunData) -> Panel:
    """The image, with the RMS velocity."""
    with time_volume(run, "image") as image:
        factors, values = averaged_volume(image.volume, MOST_IMAGE)
    velocity, note = _velocity(run, factors)
    steps = [d * f for d, f in zip(image.spacing, factors, strict=True)]
    first = first_centre(image.origin, image.spacing, factors)
    columns, rock = faded(values.reshape(-1, values.shape[2]), velocity, first[2], steps[2])
    caption = BALANCED.format("time")
    if math.prod(factors) > 1:
        caption += f" Shown are means of {times(factors)} samples."
    return {
        "kind": "volume",
        "title": "The image in time",
        "caption": f"{caption} {note}".strip(),
        "file": image.path,
        "span": span(image.shape, image.spacing, image.origin),
        "image": image_bytes(balanced_codes(columns, rock).reshape(values.shape), image.spacing, image.origin, factors),
        "property": None if velocity is None else property_bytes(velocity, steps, first, RMS),
        "vertical": dict(VERTICAL),
    }


def _velocity(run: RunData, factors: tuple[int, int, int]) -> tuple[Values | None, str]:
    """The RMS velocity (x, y, t), m/s, averaged as the image; or None, and a note why it is not available."""
    try:
        with time_volume(run, "velocity") as velocity:
            return averaged(velocity.read, velocity.shape, factors), ""
    except (FathometerError, OSError) as error:
        return None, f"The velocity is not shown: {error}."


def faded(columns: Values, velocity: Values | None, first: float, step: float) -> tuple[Values, npt.NDArray[np.bool_]]:
    """An image (columns, nt) faded out in the water, and the mask of what lies below it; all of it where the RMS
    velocity is not known. first, step: of the times, s."""
    if velocity is None:
        return columns, np.ones(columns.shape, np.bool_)
    return below_water(columns, interval_velocities(velocity.reshape(columns.shape), first, step))


def fold_panel(run: RunData) -> Panel:
    """The fold: how many traces are summed at each sample."""
    with time_volume(run, "fold") as fold:
        factors, values = averaged_volume(fold.volume, MOST_PROPERTY)
    caption = "How many traces are summed at a sample; those that are tapered count in part."
    if math.prod(factors) > 1:
        caption += f" Shown are means of {times(factors)} samples."
    steps = [d * f for d, f in zip(fold.spacing, factors, strict=True)]
    return {
        "kind": "volume",
        "title": "The fold",
        "caption": caption,
        "file": fold.path,
        "span": span(fold.shape, fold.spacing, fold.origin),
        "image": None,
        "property": property_bytes(values, steps, first_centre(fold.origin, fold.spacing, factors), FOLD, 0.0),
        "vertical": dict(VERTICAL),
    }
