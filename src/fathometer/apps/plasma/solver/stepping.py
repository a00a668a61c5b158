"""Steps in time, and how long they may be.

rk4: the classical method of order 4, four arrays. rk3: of order 3 with three arrays (Wray 1990, in Spalart, Moser &
Rogers 1991, J. Comput. Phys. 96, 297).

Of the limits those of streaming, drift, mirror force and collisions are added up, each the largest that its terms alone
have. What the potentials add to them (Alfvén waves, electrons that answer at once) is in no such limit: the largest
rate of all linear terms together is measured, by applying them again and again to noise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.apps.plasma.solver.model import Plasma, PlasmaModel, flat
from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import allreduce

Complex = npt.NDArray[np.complex128]
STEEPEST = 1.586  # largest eigenvalue of the difference along theta, over its spacing
POWERS = 60  # applications of the linear terms; of these the first third is not looked at
MARGIN = 1.1  # of the measured rate, which comes from below


class Stepper(ABC):
    """A method; `reach`: the largest product of a step and the size of an eigenvalue without growth, less some."""

    reach: ClassVar[float]
    stages: ClassVar[int]
    arrays: ClassVar[int]  # of the size of g, g included

    def __init__(self, model: PlasmaModel) -> None:
        self._model = model
        self._rate, *self._others = (np.zeros_like(model.g) for _ in range(self.arrays - 1))

    @abstractmethod
    def _take(self, dt: float) -> None:
        """The step, whose first rates are known."""

    def step(self, choose: Callable[[float], float]) -> float:
        """Collective. Take a step; its length. choose: that, for the largest flow rate (see Bracket.apply)."""
        model = self._model
        model.rates(model.g, self._rate)
        dt = choose(model.largest_flow_rate())
        self._take(dt)
        return dt

    def _add(self, before: Complex, step: float, after: Complex | None, *more: tuple[Complex, float, Complex]) -> None:
        with ledger.phase("update"):
            start, part, total = more[0] if more else (None, 0.0, None)
            _native.plasma_add(
                before=flat(before),
                rate=flat(self._rate),
                step=step,
                after=None if after is None else flat(after),
                start=None if start is None else flat(start),
                part=part,
                sum=None if total is None else flat(total),
            )


class RungeKutta4(Stepper):
    """The classical method."""

    reach, stages, arrays = 2.5, 4, 4

    def _take(self, dt: float) -> None:
        model, (now, total) = self._model, self._others
        g = model.g
        self._add(g, dt / 2, now, (g, dt / 6, total))
        model.rates(now, self._rate)
        self._add(g, dt / 2, now, (total, dt / 3, total))
        model.rates(now, self._rate)
        self._add(g, dt, now, (total, dt / 3, total))
        model.rates(now, self._rate)
        self._add(total, dt / 6, g)


class RungeKutta3(Stepper):
    """Wray's method. Weights of the rates in the stages: of their own, and of the one before."""

    reach, stages, arrays = 1.6, 3, 3
    NOW, BEFORE = (8 / 15, 5 / 12, 3 / 4), (0.0, -17 / 60, -5 / 12)

    def _take(self, dt: float) -> None:
        model, (base,) = self._model, self._others
        g, (first, second, third), (_, after_first, after_second) = model.g, self.NOW, self.BEFORE
        self._add(g, dt * first, None, (g, dt * (first + after_first), base))
        self._add(g, dt * first, g)
        model.rates(g, self._rate)
        self._add(base, dt * second, g, (base, dt * (second + after_second), base))
        model.rates(g, self._rate)
        self._add(base, dt * third, g)


METHODS: dict[str, type[Stepper]] = {"rk4": RungeKutta4, "rk3": RungeKutta3}


def limits(plasma: Plasma) -> dict[str, float]:
    """Largest rates of the terms, v_i/R, each alone."""
    tube, grid = plasma.tube, plasma.grid
    q = tube.geometry.q
    mirror = 0.0 if tube.geometry.slab else np.abs(tube.gradient).max() * (grid.thermal * grid.v).max() / q
    scattering = 0.5 * grid.cosines * (grid.cosines - 1)
    return {
        "streaming": float(STEEPEST * np.abs(grid.parallel).max() / q / tube.spacing),
        "mirror": float(mirror * np.abs(np.linalg.eigvals(grid.mirror)).max()),
        "drift": float(np.abs(tube.drift).max() * np.abs(plasma.curvature()).max()),
        "collisions": float(scattering * grid.frequencies.max()),
        "damping": float(plasma.damped().max()),
    }


def measured_rate(model: PlasmaModel, powers: int = POWERS) -> float:
    """Collective. The largest eigenvalue of all linear terms together, in size, v_i/R: a lower bound that comes close.
    powers: applications of them.

    Raises FathometerError where it is not finite.
    """
    share, begin = model.share, model.g
    now = np.empty_like(begin)
    for number, mode in enumerate(range(share.own_modes.start, share.own_modes.stop)):
        for at, v in enumerate(range(share.own_velocities.start, share.own_velocities.stop)):
            values = np.random.default_rng([mode, v]).uniform(-1, 1, 2 * share.places)
            now[number, at] = values.view(np.complex128).reshape(share.points, share.waves)
    after = np.empty_like(now)
    sizes, before = [], 1.0
    for _ in range(powers):
        model.rates(now, after, bracket=False)
        own = float(np.abs(after.view(np.float64)).max()) if after.size else 0.0
        size = float(allreduce(model.comm, own, "MAX"))
        if not math.isfinite(size):
            raise FathometerError("the rates of the linear terms are not finite")
        if not size:
            return 0.0
        # Scaled by a power of two, which changes no bits.
        exponent = math.frexp(size)[1]
        sizes.append(math.log(size / before))
        before = math.ldexp(size, -exponent)
        np.multiply(after, math.ldexp(1.0, -exponent), out=now)
    late = sizes[powers // 3 :]
    return math.exp(sum(late) / len(late))
