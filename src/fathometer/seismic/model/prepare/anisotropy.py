"""Epsilon and delta of volumes, on the cells of the model that is prepared: --epsilon and --delta with a file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.model.axes import labelled_axes
from fathometer.seismic.model.limits import THOMSEN
from fathometer.seismic.model.prepare.input_volume import times
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.seismic.model.prepare.thomsen import Given
from fathometer.seismic.model.property_units import factor_of, per_cent_note
from fathometer.storage.volumes.volume import Volume, open_volume

Floats = npt.NDArray[np.float32]


class GivenParameter:
    """Epsilon or delta of a file, as [x, y, z] on the cells of a model.

    Attributes:
        path: of the file. notes: on what was read last.
    """

    def __init__(self, name: str, volume: Volume, grid: Grid, axes: str) -> None:
        """name: "epsilon" or "delta". grid: of the model. axes: of the model's file, slowest first; of this one, where
        it does not name its own.

        Raises InputError where the file's cells are not those of the grid, and for an unknown unit.
        """
        self._option, self._volume, self._grid, self.path = f"--{name}", volume, grid, volume.path
        own = len(volume.info.shape) == len(axes)
        self._axes = (labelled_axes(self._option, volume, None) or axes) if own else axes
        self._check_cells()
        self._factor = factor_of(self._option, name, volume)
        self.notes: tuple[str, ...] = ()

    def _check_cells(self) -> None:
        info, grid = self._volume.info, self._grid
        wanted = tuple(grid.shape["xyz".index(name)] for name in self._axes)
        if info.shape != wanted:
            raise InputError(
                f"{self._option}: {self.path} has {times(info.shape)} cells, the model {times(wanted)} along "
                f"{', '.join(self._axes)}; allowed: the model's cells"
            )
        if info.uneven:
            raise InputError(f"{self._option}: {self.path}: {info.uneven}; needed: coordinates of equal steps, in m")
        for what, carried, numbers in (
            ("cells", info.spacing, grid.spacing),
            ("a first cell at", info.origin, grid.origin),
        ):
            for name, metres in zip(self._axes, carried or (), strict=False):
                model = numbers["xyz".index(name)]
                if not math.isclose(metres, model, rel_tol=1e-4, abs_tol=1e-6):
                    raise InputError(
                        f"{self._option}: {self.path} has {what} {metres:g} m along {name}, the model {model:g} m; "
                        "allowed: the model's cells"
                    )

    def read(self, box: list[tuple[int, int]]) -> Floats:
        """Values, float32 [x, y, z], of the cells in half-open ranges along x, y, z. InputError for values that no rock
        has."""
        ranges = dict(zip("xyz", box, strict=True))
        lo, hi = ([ranges[name][end] for name in self._axes] for end in (0, 1))
        raw = self._volume.read(lo, hi).transpose([self._axes.index(name) for name in "xyz" if name in self._axes])
        with np.errstate(invalid="ignore", over="ignore"):
            values = np.ascontiguousarray(self._factor * raw, np.float32).reshape([b - a for a, b in box])
        low, high = THOMSEN
        wrong = ~((values > low) & (values <= high))
        if wrong.any():
            first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            cell = ", ".join(f"{'xyz'[axis]} {box[axis][0] + first[axis]}" for axis in self._grid.axes)
            raise InputError(
                f"{self._option}: {self.path}: {np.count_nonzero(wrong)} of {wrong.size} values are out of range, the "
                f"first {values[first]:g} in cell {cell} (from 0); allowed: above {low:g}, up to {high:g}: fractions, "
                "not percent"
            )
        told = tuple(f"{self.path}: {note}" for note in self._volume.info.notes)
        self.notes = told + per_cent_note(self._option, self._volume, float(np.abs(values).max(initial=0.0)))
        return values


@contextmanager
def given_parameters(request: PreparationRequest, grid: Grid, axes: str) -> Iterator[dict[str, GivenParameter]]:
    """Those of epsilon and delta that the request has as volumes, open, by name. Arguments and errors as of
    `GivenParameter`."""
    with ExitStack() as stack:
        found: dict[str, GivenParameter] = {}
        parameters: dict[str, Any] = {"epsilon": request.epsilon, "delta": request.delta}
        for name, parameter in parameters.items():
            if isinstance(parameter, Given):
                volume = stack.enter_context(open_volume(parameter.reference, Path()))
                found[name] = GivenParameter(name, volume, grid, axes)
        yield found


def within_limits(epsilon: Floats, delta: Floats) -> tuple[Floats, tuple[str, ...]]:
    """Epsilon, float32 [x, y, z], within the limits of a model, and notes on cells that were not, or where it is below
    delta (of the same shape): strongly different layers may act as one beyond the limits."""
    low, high = THOMSEN
    least = np.nextafter(np.float32(low), np.float32(0))
    beyond = ~((epsilon >= least) & (epsilon <= high))
    notes: tuple[str, ...] = ()
    if beyond.any():
        worst = epsilon[beyond][np.argmax(np.abs(epsilon[beyond]))]
        notes += (
            f"epsilon of the means is out of {low:g} to {high:g} in {np.count_nonzero(beyond)} of {epsilon.size} "
            f"cells, the worst {worst:g}, and set to the limit there",
        )
        epsilon = np.clip(epsilon, least, np.float32(high))
    weak = delta - epsilon
    if (weak > 0).any():
        notes += (
            f"epsilon < delta in {np.count_nonzero(weak > 0)} of {epsilon.size} cells, by up to {weak.max():g}: a "
            "survey needs [model] on_weak_epsilon",
        )
    return epsilon, notes
