"""Collective checks of model values: finite, in the range of rocks, cells with epsilon < delta."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.collectives import allreduce
from fathometer.parallel.decomposition import Decomposition
from fathometer.parallel.threads import by_planes, over_planes
from fathometer.seismic.model.limits import THOMSEN, velocity_range
from fathometer.seismic.model.velocity_units import OTHERS, fitting_units
from fathometer.seismic.model.weak_epsilon import REFUSE, WeakEpsilon

if TYPE_CHECKING:
    from mpi4py import MPI

Box = tuple[slice, slice, slice]


@dataclass(frozen=True, eq=False)
class ModelChecks:
    """Checks of the model's arrays, float32 [x, y, z] on this rank's block of the padded grid.

    The methods are collective. Their InputError is the same on all ranks; it gives the number of wrong cells and the
    position of the first or the worst.

    Attributes:
        survey: the survey file, for messages. units: of a velocity (vp, vs) in its file.
        source: the name of a property (vp, epsilon, delta) with its file, for messages.
        given: [model] units; None: left out. doubt: what the message about velocities out of range asks.
        missing: what stands for missing data in the file of a property, to follow "cells"; "": nothing.
    """

    survey: str
    units: Callable[[str], str]
    source: Callable[[str], str]
    grid: Grid
    block: Decomposition
    comm: MPI.Intracomm
    given: str | None = None
    doubt: str = ""
    missing: Callable[[str], str] = lambda name: ""

    @property
    def own(self) -> Box:
        """The block's cells inside the model."""
        x, y, z = (slice(lo, hi) for lo, hi in zip(*self.grid.local_box(self.block), strict=True))
        return x, y, z

    def finite(self, name: str, values: np.ndarray) -> None:
        """Raises InputError for NaN or infinity in the property `name`."""
        count, first = self.count_and_first(by_planes(lambda v: ~np.isfinite(v), bool, values[self.own]))
        if count:
            slowness = {"s/km": "slowness", "s2/km2": "slowness squared"}
            kind = slowness.get(self.units(name)) if name in ("vp", "vs") else None
            also = f" (or a {kind} that is not positive)" if kind else ""
            raise InputError(
                f"{self.survey}: {self.source(name)}: NaN or infinity{also} in {count} of "
                f"{self.cells} cells{self.missing(name)}, first at {first}; allowed: finite numbers"
            )

    @property
    def cells(self) -> int:
        """Cells of the whole model."""
        return math.prod(self.grid.shape)

    def velocity(self, vp: np.ndarray) -> float:
        """The least velocity (m/s) of the whole model. Raises InputError for velocities outside the range of
        rocks, which suggest another unit, or outside all that is allowed where the survey gives it."""
        slowest, fastest = velocity_range(self.given)
        part = vp[self.own]
        ends = over_planes(lambda x: (part[x].min(initial=np.inf), part[x].max(initial=-np.inf)), len(part))
        low: float = allreduce(self.comm, float(np.min([least for least, _ in ends], initial=np.inf)), "MIN")
        high = allreduce(self.comm, float(np.max([most for _, most in ends], initial=-np.inf)), "MAX")
        count, first = self.count_and_first(by_planes(lambda v: ~((v >= slowest) & (v <= fastest)), bool, part))
        if count:
            units = self.units("vp")
            raise InputError(
                f"{self.survey}: {self.source('vp')}: {count} of {self.cells} cells lie outside "
                f"{slowest:g} to {fastest:g} m/s (from {low:g} to {high:g} m/s when read as {units}), first at "
                f'{first}; {self.doubt} allowed: "m/s", {OTHERS}{fitting_units(low, high, units)}'
            )
        return low

    def thomsen(self, epsilon: np.ndarray, delta: np.ndarray) -> dict[str, float]:
        """The largest magnitudes of epsilon and delta. Raises InputError for values outside THOMSEN."""
        largest, (low, high) = {}, THOMSEN
        for name, values in (("epsilon", epsilon), ("delta", delta)):
            part = values[self.own]
            count, first = self.count_and_first(by_planes(lambda v: ~((v > low) & (v <= high)), bool, part))
            if count:
                raise InputError(
                    f"{self.survey}: {self.source(name)}: {count} of {self.cells} cells lie outside "
                    f"{low:g} to {high:g}, first at {first}; allowed: above {low:g}, up to {high:g}, as fractions, "
                    "not percent"
                )
            largest[name] = allreduce(self.comm, _largest(np.abs, part), "MAX")
        return largest

    def weak_epsilon(self, epsilon: np.ndarray, delta: np.ndarray, handling: str) -> WeakEpsilon | None:
        """Count the cells with epsilon < delta, each on the rank that owns it; None where they are refused.

        handling: [model] on_weak_epsilon. Raises InputError for such cells where they are refused.
        """
        deficit = by_planes(np.subtract, np.float32, delta[self.own], epsilon[self.own])
        count, worst = self.count_and_first(by_planes(lambda v: ~(v <= 0), bool, deficit), deficit)
        largest = allreduce(self.comm, _largest(np.asarray, deficit), "MAX")
        weak = WeakEpsilon(handling, count, self.cells, largest, worst)
        if handling != REFUSE:
            return weak
        if count:
            raise InputError(f"{self.survey}: {self.source('epsilon')}: {weak.refusal}")
        return None

    def count_and_first(self, wrong: np.ndarray, weight: np.ndarray | None = None) -> tuple[int, str]:
        """Number of wrong cells on all ranks, and the position of the first, or of the one with the largest weight."""
        grid = self.grid
        count = allreduce(self.comm, int(wrong.sum()), "SUM")
        if not count:
            return 0, ""
        candidate: tuple[float, tuple[int, ...]] | None = None
        if wrong.any():
            flat = int(np.argmax(wrong if weight is None else np.where(wrong, weight, -np.inf)))
            cell = tuple(
                int(i) + s.start + lo - pad
                for i, s, lo, (pad, _) in zip(
                    np.unravel_index(flat, wrong.shape), self.own, self.block.lo, grid.pad, strict=True
                )
            )
            candidate = (0.0 if weight is None else -float(weight.flat[flat]), cell)
        with ledger.communication():
            _, cell = min(other for other in self.comm.allgather(candidate) if other is not None)
        position = [
            f"{axis} = {o + c * d:g} m"
            for axis, o, c, d in zip("xyz", grid.origin, cell, grid.spacing, strict=True)
            if not (axis == "y" and grid.two_dimensional)
        ]
        return count, ", ".join(position)


def _largest(of: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> float:
    """The largest of(values), at least 0."""
    return float(np.max(over_planes(lambda x: of(values[x]).max(initial=0.0), len(values)), initial=0.0))
