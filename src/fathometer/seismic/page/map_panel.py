"""Panel of the acquisition: a map of sources and receivers, or of a 2D line its shots along x."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import FathometerError, InputError
from fathometer.pictures.gather import SAME_LINE
from fathometer.report.decimation import span
from fathometer.runs.application import Panel
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.shots.shot import Shot

MOST_MARKS = 2500  # receivers on a map
MOST_SEEN = 500_000  # receivers among which those on a map are chosen
MOST_LINES = 60  # shots of a 2D line whose receivers are shown


Outline = list[list[float]]  # first and last x, first and last y, m


def map_panel(run: RunData, image: Callable[[], Outline] | None = None) -> Panel:
    """Sources and receivers from above; of a 2D line, x by shot number. image: the places of an image, to be framed in
    place of those of the model."""
    acquisition, shots = run.acquisition(), run.acquisition().shots
    if not shots:
        raise InputError(f"{acquisition.name}: no shots")
    sources = np.array([shot.source for shot in shots])
    spreads = list({id(shot.receivers): shot.receivers for shot in shots}.values())
    each = max(1, MOST_SEEN // len(spreads))
    if _on_a_line(sources, spreads):
        chosen = shots[:: -(-len(shots) // MOST_LINES)]
        most = max(8, MOST_MARKS // len(chosen))
        marks = [(float(x), shot.index + 1) for shot in chosen for x in _thinned(shot.receivers[:, 0], most)]
        groups = [
            {"name": "receivers", "x": [_round(x) for x, _ in marks], "y": [n for _, n in marks]},
            {"name": "sources", "x": rounded(sources[:, 0]), "y": [shot.index + 1 for shot in shots]},
        ]
        return {"kind": "points", "title": "Sources and receivers along the line", "labels": ["x (m)", "shot"]} | {
            "groups": groups,
            "equal": False,
            "numbered": True,
            "caption": _counts(shots),
        }
    receivers = np.unique(np.round(np.concatenate([_thinned(spread, each) for spread in spreads])[:, :2], 3), axis=0)
    receivers = _thinned(receivers, MOST_MARKS)
    outline = None
    with suppress(FathometerError, OSError):  # reported by the panel of the image
        outline = _of_model(run) if image is None else image()
    return {"kind": "points", "title": "Sources and receivers from above", "labels": ["x (m)", "y (m)"]} | {
        "groups": [
            {"name": "receivers", "x": rounded(receivers[:, 0]), "y": rounded(receivers[:, 1])},
            {"name": "sources", "x": rounded(sources[:, 0]), "y": rounded(sources[:, 1])},
        ],
        "equal": True,
        "outline": outline,
        "caption": _counts(shots) + (f" The frame is the {'model' if image is None else 'image'}." if outline else ""),
    }


def _of_model(run: RunData) -> Outline:
    grid = run.earth().grid
    return span(grid.shape, grid.spacing, grid.origin)[:2]


def _on_a_line(sources: npt.NDArray[np.float64], spreads: Sequence[npt.NDArray[np.float64]]) -> bool:
    """Whether all sources and receivers have one y."""
    first = sources[0, 1]
    return all(
        float(np.abs(positions[:, 1] - first).max(initial=0.0)) <= SAME_LINE for positions in (sources, *spreads)
    )


def _counts(shots: Sequence[Shot]) -> str:
    """Numbers of shots and receivers, as text."""
    numbers = sorted({len(shot.receivers) for shot in shots})
    spread = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    return f"{len(shots)} {'shot' if len(shots) == 1 else 'shots'}, {spread} receivers each."


def _thinned(values: npt.NDArray[np.float64], most: int) -> npt.NDArray[np.float64]:
    """At most `most` of the rows, evenly chosen."""
    return values[:: -(-len(values) // most) or 1]


def rounded(values: npt.NDArray[np.float64]) -> list[float]:
    """Values (n,), m, rounded to a centimetre."""
    return [_round(float(value)) for value in values]


def _round(value: float) -> float:
    """To a centimetre."""
    return round(value, 2)
