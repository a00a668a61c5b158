"""Devito's elastic time steps, one task a line on standard input, its answer a line on standard output.

Runs in Devito's own environment, which knows nothing of Fathometer. Velocity and stress on a staggered grid of order 4
in space, as Devito's elastic example has it, with its damping mask of as many cells as Fathometer's layers.

    check N      from a Gaussian of normal stresses at rest, N steps without damping: the norm of vz
    steps N      N steps with damping: seconds
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from devito import (  # type: ignore[import-not-found]
    Eq,
    Function,
    Grid,
    Operator,
    TensorTimeFunction,
    VectorTimeFunction,
    configuration,
    diag,
    div,
    grad,
    solve,
)

ORDER, TUNING_STEPS = 4, 6


class Elastic:
    """Velocities and stresses in a cube of a medium whose properties are arrays, as in a run."""

    def __init__(self, side: int, spacing: float, dt: float, medium: list[float], width: int) -> None:
        vp, vs, density = medium
        self.grid = Grid(shape=(side,) * 3, extent=((side - 1) * spacing,) * 3, dtype=np.float32)
        self.dt = np.float32(dt)
        self.v = VectorTimeFunction(name="v", grid=self.grid, space_order=ORDER, time_order=1)
        self.tau = TensorTimeFunction(name="t", grid=self.grid, space_order=ORDER, time_order=1)
        values = {"b": 1 / density, "lam": density * (vp**2 - 2 * vs**2), "mu": density * vs**2}
        b, lam, mu = (Function(name=name, grid=self.grid, space_order=ORDER) for name in values)
        for function, value in zip((b, lam, mu), values.values(), strict=True):
            function.data_with_halo[:] = value
        self.free, self.damped = (self._operator(b, lam, mu, mask) for mask in (None, self._mask(width)))

    def _operator(self, b: Function, lam: Function, mu: Function, mask: Function | None) -> Operator:
        v, tau = self.v, self.tau
        damping = 1 if mask is None else mask
        momentum = v.dt - b * div(tau)
        hooke = tau.dt - lam * diag(div(v.forward)) - mu * (grad(v.forward) + grad(v.forward).transpose(inner=False))
        equations = [
            Eq(v.forward, damping * solve(momentum, v.forward)),
            Eq(tau.forward, damping * solve(hooke, tau.forward)),
        ]
        operator = Operator(equations)
        operator.apply(time_M=TUNING_STEPS, dt=self.dt, autotune="aggressive")
        return operator

    def _mask(self, width: int) -> Function:
        """What velocities and stresses are multiplied with in a step."""
        mask = Function(name="mask", grid=self.grid, space_order=0)
        mask.data[:] = 1
        for axis, n in enumerate(self.grid.shape):
            depth = np.clip(width - np.minimum(np.arange(n), np.arange(n)[::-1]), 0, None) / max(1, width)
            shape = [n if a == axis else 1 for a in range(3)]
            mask.data[:] *= np.exp(-0.05 * depth**2).reshape(shape).astype(np.float32)
        return mask

    def rest(self) -> None:
        """Normal stresses of a Gaussian in both levels, no velocities."""
        line = np.exp(-((np.arange(self.grid.shape[0]) - self.grid.shape[0] // 2) ** 2) / 50.0)
        bell = line[:, None, None] * line[:, None] * line
        for i in range(3):
            self.v[i].data[:] = 0
            for j in range(3):
                self.tau[i, j].data[:] = bell if i == j else 0

    def check(self, steps: int) -> float:
        self.rest()
        self.free.apply(time_m=0, time_M=steps - 1, dt=self.dt)
        return float(np.linalg.norm(self.v[2].data[steps % 2]))

    def steps(self, steps: int) -> None:
        self.damped.apply(time_m=0, time_M=steps - 1, dt=self.dt)


def main() -> None:
    """Make what the argument, a JSON object, describes; then do what is asked."""
    configuration["log-level"], configuration["language"] = "ERROR", "openmp"
    wave = Elastic(**json.loads(sys.argv[1]))
    tasks = {"check": wave.check, "steps": wave.steps}
    print("ready", flush=True)
    for line in sys.stdin:
        name, count = line.split()
        start = time.perf_counter()
        answer = tasks[name](int(count))
        print(time.perf_counter() - start if answer is None else answer, flush=True)


if __name__ == "__main__":
    main()
