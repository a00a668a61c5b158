"""Where the headers of a SEG-Y volume say that its traces lie: a regular grid, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.traces.extension import extension_of, overridden
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.headers import FOOT
from fathometer.storage.traces.segy import ANGLE_UNITS, scaled
from fathometer.storage.volumes.survey_grid import SurveyGrid, survey_grid, too_coarse

PLACES = ("cdp_x", "cdp_y", "source_x", "source_y", "coordinate_scalar", "coordinate_units")  # words that are read
CDP = "CDP coordinates (bytes 181 and 185)"
DROPPED = "they are not used, and no place is taken from them"


@dataclass(frozen=True)
class TracePlaces:
    """Places of the traces.

    Attributes:
        grid: of the CDP coordinates; None: there is none. notes: why coordinates that are there are not used.
        scrambled: that traces of a line do not follow each other in the file as in their places; "": they do.
    """

    grid: SurveyGrid | None = None
    notes: tuple[str, ...] = ()
    scrambled: str = ""


def trace_places(layout: Layout, head: Mapping[str, NDArray[np.int64]], lengths: tuple[int, ...]) -> TracePlaces:
    """The places by the words PLACES of all trace headers, each (traces,), on axes of these lengths, slowest first."""
    extension, scalars = extension_of(layout), head["coordinate_scalar"]
    lines = [overridden(name, scaled(head[name], scalars), extension) for name in ("cdp_x", "cdp_y")]
    places = np.stack(lines, axis=1)
    if not places.any():
        if not any(np.ptp(head[name]) for name in ("source_x", "source_y")):
            return TracePlaces()
        return TracePlaces(notes=(f"it has no {CDP}; coordinates of sources (73 and 77) are not taken for them",))
    if not np.ptp(places, axis=0).any():  # all in one place
        return TracePlaces()
    units = np.unique(head["coordinate_units"])
    if angles := [int(unit) for unit in units if unit in ANGLE_UNITS]:
        why = f"are angles by their unit (bytes 89 and 90), {', '.join(map(str, angles))}"
        return TracePlaces(notes=(f"its {CDP} {why}: {DROPPED}",))
    unit = FOOT if layout.feet else 1.0  # m
    step = unit * float(scaled(np.ones_like(scalars), scalars).max())
    metres = unit * places.reshape(*lengths, 2)
    grid = survey_grid(metres, step)
    if grid is not None or too_coarse(metres, step):
        return TracePlaces(grid)
    if len(lengths) == 1 and survey_grid(unit * _along(places), step) is not None:
        return TracePlaces(
            scrambled=f"its traces are not in the order of their {CDP}, which are a regular line in another order"
        )
    return TracePlaces(notes=(f"its {CDP} form no regular grid in the order of its traces: {DROPPED}",))


def _along(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places (n, 2) in their order along the line that fits them best."""
    beside = places - places.mean(axis=0)
    _, _, directions = np.linalg.svd(beside.T @ beside)
    order: NDArray[np.int64] = np.argsort(beside @ directions[0], kind="stable")
    return places[order]
