"""Where the traces of a volume lie in the coordinates of its survey: spacing, origin and azimuths of a regular grid.

Position of line i of the slow axis, j of the fast one: P(i, j) = P(0, 0) + i u + j v, u and v horizontal and at right
angles. Headers hold whole numbers times a scalar, so that P is known to half such a step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FARTHEST = 1e12  # m: coordinates beyond are none
QUARTER = 90.0  # degrees
TURNED = 1.0  # degrees between azimuths that count as different
SQUARE = 1e-3  # cosine of the angle between lines that count as at right angles, beside what rounding explains


@dataclass(frozen=True)
class SurveyGrid:
    """A regular grid of traces; its axes in the file's order, slowest first.

    Attributes:
        spacing: m, of each axis, the simplest numbers that fit. accuracy: m, by which rounding in the headers may have
            changed each.
        origin: m, X and Y of the first trace. azimuths: degrees, of each axis, clockwise from Y, multiples of 90 or the
            simplest numbers that fit.
    """

    spacing: tuple[float, ...]
    accuracy: tuple[float, ...]
    origin: tuple[float, float]
    azimuths: tuple[float, ...]

    def __str__(self) -> str:
        axes = " and ".join(
            f"{metres:.6g} m towards azimuth {azimuth:.6g} degrees"
            for metres, azimuth in zip(self.spacing, self.azimuths, strict=True)
        )
        return f"every {axes} (slowest axis first), from ({self.origin[0]:.10g}, {self.origin[1]:.10g}) m"

    def like(self, other: SurveyGrid) -> bool:
        """Whether another grid is the same, but for rounding."""
        pairs = zip(self.spacing, other.spacing, self.accuracy, other.accuracy, strict=True)
        turns = zip(self.azimuths, other.azimuths, strict=True)
        apart = [
            *(abs(mine - theirs) / (error + their_error) for mine, theirs, error, their_error in pairs),
            *(abs((mine - theirs + 180.0) % 360.0 - 180.0) / TURNED for mine, theirs in turns),
            math.dist(self.origin, other.origin) / (0.1 * min(self.spacing)),
        ]
        return max(apart) <= 1.0

    def as_dict(self) -> dict[str, list[float]]:
        """For JSON; SI units in the keys, but degrees."""
        return {
            "spacing_metres": list(self.spacing),
            "origin_metres": list(self.origin),
            "azimuths_degrees": list(self.azimuths),
        }


def survey_grid(places: NDArray[np.float64], step: float) -> SurveyGrid | None:
    """The grid of places (n, 2) or (n, m, 2), X and Y in m, in whole multiples of `step` (m).

    None where they do not lie on a regular grid with axes at right angles, or an axis has one place.
    """
    if not np.abs(places).max(initial=0.0) <= FARTHEST:
        return None
    lengths = places.shape[:-1]
    origin = places[(0,) * len(lengths)]
    rounding = _rounding(places, step)
    vectors = _vectors(places, rounding)
    if not vectors:
        return None
    spacing = [math.hypot(*vector) for vector in vectors]
    accuracy = [2 * rounding / (count - 1) for count in lengths]
    if any(metres <= 2 * error for metres, error in zip(spacing, accuracy, strict=True)):
        return None
    turned = [error / metres for metres, error in zip(spacing, accuracy, strict=True)]  # radians
    if len(vectors) == 2 and abs(vectors[0] @ vectors[1]) / (spacing[0] * spacing[1]) > SQUARE + sum(turned):
        return None
    return SurveyGrid(
        tuple(simplest(metres, error) for metres, error in zip(spacing, accuracy, strict=True)),
        tuple(accuracy),
        (float(origin[0]), float(origin[1])),
        tuple(_azimuth(vector, error) for vector, error in zip(vectors, turned, strict=True)),
    )


def too_coarse(places: NDArray[np.float64], step: float) -> bool:
    """Whether places, as of `survey_grid`, lie on a grid whose spacing their rounding hides."""
    rounding = _rounding(places, step)
    vectors = _vectors(places, rounding)
    return any(
        math.hypot(*vector) <= 4 * rounding / (count - 1)
        for vector, count in zip(vectors, places.shape[:-1], strict=False)
    )


def _rounding(places: NDArray[np.float64], step: float) -> float:
    return 0.5 * math.sqrt(2.0) * step + 1e-9 * float(np.abs(places).max())


def _vectors(places: NDArray[np.float64], rounding: float) -> list[NDArray[np.float64]]:
    """Steps along the axes of places that are those of a grid; none where they are not, or an axis has one place."""
    lengths = places.shape[:-1]
    origin = places[(0,) * len(lengths)]
    vectors, fitted = [], np.broadcast_to(origin, places.shape)
    for axis, count in enumerate(lengths):
        if count < 2:
            return []
        last = tuple(count - 1 if a == axis else 0 for a in range(len(lengths)))
        vector = (places[last] - origin) / (count - 1)
        along = np.arange(count).reshape([-1 if a == axis else 1 for a in range(len(lengths))])
        vectors.append(vector)
        fitted = fitted + along[..., None] * vector
    # The first, the last and the place itself are rounded.
    return vectors if np.hypot(*np.moveaxis(places - fitted, -1, 0)).max() <= 3 * rounding else []


def simplest(value: float, error: float) -> float:
    """The simplest number within `error` of a value: whole, a half, quarter or eighth, or of the fewest decimals."""
    parts = (1, 2, 4, 8, *(10**digits for digits in range(1, 9)))
    return next((round(value * n) / n for n in parts if abs(round(value * n) / n - value) <= error), value)


def _azimuth(vector: NDArray[np.float64], error: float) -> float:
    """Degrees from 0 to 360, the simplest number for a direction known to `error` radians; right angles first."""
    degrees, wrong = math.degrees(math.atan2(vector[0], vector[1])) % 360.0, math.degrees(error)
    right = QUARTER * round(degrees / QUARTER)
    return (right if abs(degrees - right) <= wrong else simplest(degrees, wrong)) % 360.0
