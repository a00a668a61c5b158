"""Cells with epsilon < delta, where the acoustic VTI equation has growing solutions: [model] on_weak_epsilon.

Its matrix M = Vp^2 [[1 + 2 epsilon, s], [s, 1]], s = sqrt(1 + 2 delta), then has a negative eigenvalue (medium.py). A
model with such cells is refused, or brought to the nearest one without: epsilon raised to delta, or delta lowered to
epsilon, cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

REFUSE, RAISE_EPSILON, LOWER_DELTA = "refuse", "raise-epsilon", "lower-delta"
_DONE = {RAISE_EPSILON: "epsilon is raised to delta", LOWER_DELTA: "delta is lowered to epsilon"}


@dataclass(frozen=True)
class WeakEpsilon:
    """The cells of a model, or of a sample of it, with epsilon < delta.

    Attributes:
        handling: [model] on_weak_epsilon. cells: with epsilon < delta, of_cells. largest: of delta - epsilon there,
            which is the largest change. place: of that cell, as text; empty where there is none.
    """

    handling: str
    cells: int
    of_cells: int
    largest: float
    place: str

    @property
    def refusal(self) -> str:
        """What is wrong and what is allowed."""
        where = f" at {self.place}" if self.place else ""
        return (
            f"epsilon < delta in {self.cells} of {self.of_cells} cells, worst by {self.largest:.4g}{where}; there the "
            "wave equation itself has growing solutions; allowed: epsilon >= delta, or [model] on_weak_epsilon = "
            f'"{RAISE_EPSILON}" or "{LOWER_DELTA}"'
        )

    @property
    def summary(self) -> str:
        """What was done to how many cells, and by how much at most."""
        if not self.cells:
            return f"epsilon >= delta in all {self.of_cells} cells: nothing is changed"
        where = f" at {self.place}" if self.place else ""
        return (
            f"epsilon < delta in {self.cells} of {self.of_cells} cells: {_DONE[self.handling]} there, "
            f"by at most {self.largest:.4g}{where}"
        )

    def as_dict(self) -> dict[str, Any]:
        """For the record."""
        return {
            "handling": self.handling,
            "cells": self.cells,
            "of_cells": self.of_cells,
            "largest_change": self.largest,
            "summary": self.summary,
        }


def strengthened(epsilon: np.ndarray, delta: np.ndarray, handling: str) -> tuple[np.ndarray, np.ndarray]:
    """epsilon and delta, arrays of one shape, each cell by itself with epsilon >= delta; as they are with "refuse"."""
    if handling == RAISE_EPSILON:
        return np.maximum(epsilon, delta), delta
    if handling == LOWER_DELTA:
        return epsilon, np.minimum(delta, epsilon)
    return epsilon, delta


def weak_epsilon_notes(weak: WeakEpsilon | None) -> tuple[str, ...]:
    """A note on what was done, where there was something to do."""
    return (f"[model] on_weak_epsilon: {weak.summary}",) if weak is not None and weak.cells else ()
